import { MalformedNoteError, noteVerifier } from '../../../infra/transparency/signed-note.ts'
import { parseReceipt, verifyReceipt } from '../../../infra/transparency/receipt.ts'
import { CommandFailedError, exitCodes } from '../terminal/failure.ts'
import { print, type Printing } from '../terminal/output.ts'

export interface ReceiptOptions extends Printing {
  /** What the file holds. */
  readonly text: string
  /** Verifier keys. */
  readonly keys: readonly string[]
}

/** Checks one receipt offline, and prints what it proves. */
export function verifyReceiptFile(options: ReceiptOptions): void {
  const { text, keys } = options
  if (keys.length === 0)
    throw new CommandFailedError(
      'A receipt is checked with a key that you noted: --key "$(cat log-key.txt)", from /log/key.',
    )
  try {
    const receipt = parseReceipt(text)
    const { checkpoint, personal, isUnproven } = verifyReceipt(receipt, keys.map(noteVerifier))
    const { event, index } = receipt
    const { origin, size } = checkpoint
    print({ event, personal: personal ?? null, isUnproven, index, origin, size, findings: [] }, options, () =>
      [
        JSON.stringify(event, undefined, 2),
        ...(personal === undefined ? [] : [`Sealed in it: ${JSON.stringify(personal)}`]),
        `This is leaf ${index} of the ${size} that ${origin} has signed.`,
        ...(isUnproven ? ['What was sealed in it is only said: it is older than the proof of that.'] : []),
      ].join('\n'),
    )
  } catch (error) {
    if (!(error instanceof MalformedNoteError)) throw error
    const problem = `the receipt does not hold: ${error.message}`
    print({ findings: [{ problem }] }, options, () => problem)
    process.exitCode = exitCodes.found
  }
}
