import { minorUnits } from '../../../infra/statements/amounts.ts'
import type { AgreedFee, AgreedFees } from '../../../packages/domain/statements/agreed-fees.ts'
import { CommandFailedError } from '../terminal/failure.ts'

const nothing: AgreedFee = { share: 0, fixed: 0 }
const percentDigits = 4

/** `in=1.5%,out=0.5%+25`: of what comes in, of what goes out; amounts in the currency, such as 25 or 0.10. */
export function agreedFees(text: string, digits: number): AgreedFees {
  const fees: Record<string, AgreedFee> = { in: nothing, out: nothing }
  const named = new Set<string>()
  for (const part of text.split(',')) {
    const [, way, percent, plus, alone] =
      /^\s*(in|out)=(?:(\d+(?:\.\d{1,4})?)%(?:\+([\d.]+))?|([\d.]+))\s*$/.exec(part) ?? []
    if (way === undefined || named.has(way)) throw new CommandFailedError(expected(text))
    named.add(way)
    const share = percent === undefined ? 0 : minorUnits(percent, percentDigits, '.')
    const fixed = plus ?? alone
    fees[way] = { share, fixed: fixed === undefined ? 0 : minorUnits(fixed, digits, '.') }
  }
  return { in: fees['in']!, out: fees['out']! }
}

function expected(text: string): string {
  return `--fees ${text} is none such as in=1.5%,out=0.5%+25: of what comes in, and of what goes out.`
}
