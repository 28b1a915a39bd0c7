import { challenge } from '../../../packages/domain/challenges/challenge.ts'
import { readState } from '../../../packages/kernel/history.ts'
import { ownerOf, type Owner } from '../../../packages/kernel/owner.ts'
import { to } from '../../../packages/kernel/policy.ts'
import type { DueTimer } from '../../../packages/kernel/ports/reads.ts'
import { apart } from '../runner/apart.ts'
import { codeMail, codeText } from './mail-texts.ts'
import { post, text } from './post.ts'
import type { Process, Tools } from '../runner/process.ts'

/** Sends the codes of challenges, by mail or to a telephone. */
export const codeMailProcess: Process = { timers: { challenge_code: apart(sendCode) } }

async function sendCode({ subject: id, ...timer }: DueTimer<Owner>, tools: Tools): Promise<void> {
  const { store, codes } = tools.dependencies
  const state = await readState(store, challenge, id)
  if (state.status !== 'pending' || state.isSent || state.destination === null) return
  const { method, destination: address, language } = state
  const code = await codes.of(id)
  if (method === 'sms') await text(tools, { id, to: address, text: codeText(language, code) })
  else await post(tools, { to: address, ...codeMail(language, code) })
  await tools.send(to(challenge, id, { type: 'NoteCodeSent', data: {} }), ownerOf(timer), 'timer')
}
