import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Command } from 'commander'
import { createWhole, writeWhole } from '../../../infra/os/whole-file.ts'
import { hashBytes, sha256 } from '../../../infra/transparency/hashing.ts'
import { cosigner, MalformedNoteError, noteVerifier } from '../../../infra/transparency/signed-note.ts'
import { addCheckpoint, type Seen, type WitnessLogs } from '../../../infra/transparency/witness.ts'
import { CommandFailedError } from '../terminal/failure.ts'
import { printableLines } from '../terminal/printable.ts'

const bodyBytesMax = 64 * 1_024

interface WitnessOptions {
  readonly name: string
  readonly directory: string
  readonly log: readonly string[]
  readonly port: string
  readonly host: string
}

export function addWitness(program: Command): void {
  program
    .command('witness')
    .description("vouch for somebody else's log: sign its checkpoints as long as it only grows")
    .requiredOption('--name <name>', 'the name of this witness, a URL without its scheme')
    .requiredOption('--directory <directory>', 'where its key and what it has seen are kept')
    .requiredOption('--log <verifier key...>', 'the verifier keys of the logs, as they show them at /log/key')
    .option('--port <port>', 'where it listens', '8090')
    .option('--host <address>', 'the address it listens on', '127.0.0.1')
    .addHelpText(
      'after',
      '\nExample:\n  ./ikw witness --name witness.example/w1 --directory /var/lib/witness --log "$(curl -s https://…/log/key)"\n',
    )
    .action(witness)
}

async function witness({ name, directory, log, port, host }: WitnessOptions): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const signer = cosigner(name, await seedIn(directory), () => new Date())
  const logs = logsIn(directory, log)
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    const isAsked = request.method === 'POST' && request.url === '/add-checkpoint'
    const answering = isAsked ? textOf(request).then((body) => addCheckpoint(body, logs, signer)) : undefined
    if (!answering) return void response.writeHead(404).end()
    answering.then(
      ({ status, body, contentType = 'text/plain; charset=utf-8' }) =>
        response.writeHead(status, { 'content-type': contentType }).end(body),
      (error: unknown) => {
        process.stderr.write(`${printableLines(String(error))}\n`)
        if (!response.headersSent) response.writeHead(error instanceof TooLongError ? 413 : 500).end()
      },
    )
  })
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(Number(port), host, resolve),
  )
  const address = server.address()
  const listening = typeof address === 'object' && address ? address.port : port
  process.stdout.write(`${name} listens on http://${host}:${listening}; its key is\n${signer.verifierKey}\n`)
  await new Promise((resolve) => process.once('SIGTERM', resolve).once('SIGINT', resolve))
  server.close()
  server.closeAllConnections()
}

class TooLongError extends Error {
  override readonly name = 'TooLongError'
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8') as AsyncIterable<string>) {
    text += chunk
    if (text.length > bodyBytesMax) throw new TooLongError('a request is too long')
  }
  return text
}

const seedBytes = 32

/** The key is created once; a witness that loses it is another witness. */
async function seedIn(directory: string): Promise<Buffer> {
  const file = join(directory, 'seed')
  await createWhole(file, randomBytes(seedBytes).toString('base64'))
  return bytesIn(readFileSync(file, 'utf8').trim(), seedBytes) ?? damaged(file, 'the key of a witness')
}

function bytesIn(base64: string, length: number): Buffer | undefined {
  const bytes = Buffer.from(base64, 'base64')
  return bytes.length === length && bytes.toString('base64') === base64 ? bytes : undefined
}

function damaged(file: string, what: string): never {
  throw new CommandFailedError(`${file} is damaged: it does not hold ${what}. Put back what was there.`)
}

/** One file per log. Requests for one log are serialised, so that no tree is seen with two different ends. */
function logsIn(directory: string, keys: readonly string[]): WitnessLogs {
  const verifiers = keys.flatMap((lines) => lines.split(/\s+/).filter((key) => key !== '')).map(verifierOf)
  const turns = new Map<string, Promise<unknown>>()
  const fileOf = (origin: string) => join(directory, `${sha256(origin).toString('hex')}.json`)
  for (const { name } of verifiers) seenIn(fileOf(name))
  return {
    verifiers(origin) {
      const known = verifiers.filter(({ name }) => name === origin)
      return known.length > 0 ? known : undefined
    },
    advance(origin, step) {
      const turn = async () => {
        const file = fileOf(origin)
        const { keep, result } = step(seenIn(file))
        if (keep) await write(file, { origin, size: keep.size, root: keep.root.toString('base64') })
        return result
      }
      const next = (turns.get(origin) ?? Promise.resolve()).then(turn, turn)
      turns.set(origin, next)
      return next
    },
  }
}

function verifierOf(key: string) {
  try {
    return noteVerifier(key)
  } catch (error) {
    if (error instanceof MalformedNoteError) throw new CommandFailedError(`--log: ${error.message}.`)
    throw error
  }
}

/** Whatever cannot be read is not taken for nothing: whoever has seen nothing signs any log. */
function seenIn(file: string): Seen | undefined {
  if (!lstatSync(file, { throwIfNoEntry: false })) return undefined
  const { size, root } = objectIn(readFileSync(file, 'utf8'))
  const bytes = typeof root === 'string' ? bytesIn(root, hashBytes) : undefined
  const isWhole = typeof size === 'number' && Number.isSafeInteger(size) && size >= 0
  return isWhole && bytes ? { size, root: bytes } : damaged(file, 'what was seen of a log')
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** It is on disk before the signature leaves this process. */
function write(file: string, seen: object): Promise<void> {
  return writeWhole(file, async (partial) => writeFileSync(partial, JSON.stringify(seen)))
}
