import { challenge } from '../../packages/domain/challenges/challenge.ts'
import { readState } from '../../packages/kernel/history.ts'
import { ownerOf, type Owner } from '../../packages/kernel/owner.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { DueTimer } from '../../packages/kernel/read-ports.ts'
import { apart } from './apart.ts'
import { codeMail } from './mail-texts.ts'
import { post } from './post.ts'
import type { Process, Tools } from './process.ts'

/** Mails the codes of challenges. */
export const codeMailProcess: Process = { timers: { challenge_code: apart(mailCode) } }

async function mailCode({ subject: id, ...timer }: DueTimer<Owner>, tools: Tools): Promise<void> {
  const { store, codes } = tools.dependencies
  const state = await readState(store, challenge, id)
  if (state.status !== 'pending' || state.isSent || state.destination === null) return
  await post(tools, { to: state.destination, ...codeMail(state.language, await codes.of(id)) })
  await tools.send(to(challenge, id, { type: 'NoteCodeSent', data: {} }), ownerOf(timer), 'timer')
}
