import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { chownSync, readFileSync, statSync } from 'node:fs'

/**
 * Who runs the server's programs. PostgreSQL refuses to run as root, so root hands them to an unprivileged
 * user.
 */
export interface ServerUser {
  /** Starts a program with an empty environment. */
  run(program: string, parameters: readonly string[], options: SpawnOptions): ChildProcess
  /** Gives the server a file or a directory that we created. */
  own(path: string): void
  readonly uid: number | undefined
}

interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

interface Reach {
  /** Where the server's own directories are. */
  readonly directory: string
  /** An existing cluster keeps running under its owner. */
  readonly cluster: string
  readonly program: string
}

// The server needs nothing of our environment, and a locale that is not installed would keep it from
// starting.
const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' }

export function serverUser(reach: Reach): ServerUser {
  if (process.getuid?.() !== 0) {
    const run: ServerUser['run'] = (program, parameters, options) =>
      spawn(program, parameters, { ...options, env: environment, cwd: '/' })
    return { run, own: () => undefined, uid: process.getuid?.() }
  }
  const account = unprivilegedAccount(reach.cluster)
  const own = (path: string) => chownSync(path, account.uid, account.gid)
  return { run: runnerFor(account, reach), own, uid: account.uid }
}

function unprivilegedAccount(cluster: string): Account {
  const owner = statSync(cluster, { throwIfNoEntry: false })
  if (owner && owner.uid !== 0) return { name: `user ${owner.uid}`, uid: owner.uid, gid: owner.gid }
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of ['postgres', 'nobody']) {
    const found = accounts.find((fields) => fields[0] === name)
    if (found) return { name, uid: Number(found[2]), gid: Number(found[3]) }
  }
  throw new Error('PostgreSQL cannot run as root, and this system has neither a user postgres nor nobody')
}

function runnerFor(account: Account, reach: Reach): ServerUser['run'] {
  const { uid, gid } = account
  const everywhere = { env: environment, cwd: '/' }
  const plain: ServerUser['run'] = (program, parameters, options) =>
    spawn(program, parameters, { ...options, ...everywhere, uid, gid })
  const privileged: ServerUser['run'] = (program, parameters, options) =>
    spawn('setpriv', [...passThrough(account), program, ...parameters], { ...options, ...everywhere })

  const check = ['-c', 'test -x "$1" && cd "$2"', 'sh', reach.program, reach.directory]
  if (spawnSync('sh', check, { ...everywhere, uid, gid }).status === 0) return plain
  const privilegedCheck = [...passThrough(account), 'sh', ...check]
  if (spawnSync('setpriv', privilegedCheck, everywhere).status === 0) return privileged
  throw new Error(
    'PostgreSQL cannot run as root, and ' +
      `${account.name} cannot enter ${reach.directory} or run ${reach.program}: ` +
      'move both out of private directories such as /root, or install setpriv (util-linux)',
  )
}

/**
 * For directories below one that the user cannot enter, such as /root. PostgreSQL checks its own programs
 * with access(2), which honours the capability only while the user id does not clear it: hence
 * `no_setuid_fixup`.
 */
function passThrough({ uid, gid }: Account): readonly string[] {
  return [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    '--securebits=+no_setuid_fixup',
  ]
}
