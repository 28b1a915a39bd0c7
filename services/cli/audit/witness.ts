import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Command } from 'commander'
import { createWhole } from '../../../infra/os/whole-file.ts'
import { cosigner, MalformedNoteError, noteVerifier } from '../../../infra/transparency/signed-note.ts'
import { addCheckpoint, type WitnessLogs } from '../../../infra/transparency/witness.ts'
import { CommandFailedError } from '../terminal/failure.ts'
import { printableLines } from '../terminal/printable.ts'
import { bytesIn, damaged, SeenCheckpoints } from './seen-checkpoints.ts'

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

/**
 * Requests for one log are serialised, and those of two processes find out by its files, so that no tree is
 * seen with two different ends.
 */
function logsIn(directory: string, keys: readonly string[]): WitnessLogs {
  const verifiers = keys.flatMap((lines) => lines.split(/\s+/).filter((key) => key !== '')).map(verifierOf)
  const turns = new Map<string, Promise<unknown>>()
  for (const { name } of verifiers) new SeenCheckpoints(directory, name).last()
  return {
    verifiers(origin) {
      const known = verifiers.filter(({ name }) => name === origin)
      return known.length > 0 ? known : undefined
    },
    advance(origin, step) {
      const turn = async () => {
        const checkpoints = new SeenCheckpoints(directory, origin)
        for (;;) {
          const { number, seen } = checkpoints.last()
          const { keep, result } = step(seen)
          if (!keep || (await checkpoints.add(number + 1, keep))) return result
        }
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
