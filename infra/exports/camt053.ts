import { decimalAmount } from '../../packages/contract/locale/money-text.ts'
import { lateModule } from '../os/late-module.ts'

// Loaded with the first statement: that takes as long as many commands do.
const xml = lateModule<typeof import('xmlbuilder2')>('xmlbuilder2')

/** Statements of an account as ISO 20022 camt.053.001.08 has them, piece by piece. */

const namespace = 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08'
const nameMax = 70

export interface Statement {
  /** At most 35 characters each; unique for ever. */
  readonly id: string
  /** At most 34 characters. */
  readonly account: string
  readonly accountName: string
  readonly owner: string
  readonly currency: string
  readonly from: string
  /** The first moment after it. */
  readonly to: string
  /** In minor units. */
  readonly opening: number
  readonly closing: number
}

export interface StatementEntry {
  /** At most 35 characters each. */
  readonly id: string
  readonly reference: string
  readonly kind: string
  /** In minor units; negative where the account goes down. */
  readonly amount: number
  readonly effectiveAt: string
  readonly recordedAt: string
}

/** All before the entries. */
export function statementHead(statement: Statement): string {
  const { id, account, accountName, owner, currency, from, to, opening, closing } = statement
  // Nothing of the moment at which it is written, so that it is the same bytes every time.
  const last = new Date(Date.parse(to) - 1).toISOString()
  const whole = xml()
    .create({ version: '1.0', encoding: 'UTF-8', invalidCharReplacement: '\ufffd' })
    .ele(namespace, 'Document')
    .ele({
      BkToCstmrStmt: {
        GrpHdr: { MsgId: id, CreDtTm: to },
        Stmt: {
          Id: id,
          CreDtTm: to,
          FrToDt: { FrDtTm: from, ToDtTm: last },
          Acct: {
            Id: { Othr: { Id: account } },
            Ccy: currency,
            Nm: cut(accountName),
            Ownr: { Nm: cut(owner) },
          },
          Bal: [
            balance('OPBD', { amount: opening, currency, at: from }),
            balance('CLBD', { amount: closing, currency, at: last }),
          ],
        },
      },
    })
    .end({ prettyPrint: true })
  return `${whole.slice(0, whole.indexOf('    </Stmt>'))}`
}

export function statementEntry(entry: StatementEntry, currency: string): string {
  const { id, reference, kind, amount, effectiveAt, recordedAt } = entry
  const details = { Refs: { AcctSvcrRef: id, ...(reference && { EndToEndId: reference }) } }
  const element = xml().fragment({
    Ntry: {
      NtryRef: id,
      ...amountOf(amount, currency),
      Sts: { Cd: 'BOOK' },
      BookgDt: { DtTm: recordedAt },
      ValDt: { DtTm: effectiveAt },
      AcctSvcrRef: id,
      BkTxCd: { Prtry: { Cd: kind } },
      NtryDtls: { TxDtls: details },
    },
  })
  return `      ${element.toString().replaceAll('\n', '')}\n`
}

export const statementTail = '    </Stmt>\n  </BkToCstmrStmt>\n</Document>\n'

interface Standing {
  readonly amount: number
  readonly currency: string
  readonly at: string
}

function balance(code: string, { amount, currency, at }: Standing) {
  return { Tp: { CdOrPrtry: { Cd: code } }, ...amountOf(amount, currency), Dt: { DtTm: at } }
}

function amountOf(amount: number, currency: string) {
  return {
    Amt: { '@Ccy': currency, '#': decimalAmount(Math.abs(amount), currency) },
    CdtDbtInd: amount < 0 ? 'DBIT' : 'CRDT',
  }
}

/** The library takes `&name;` for an entity, both reading and writing, unless its `&` is escaped twice. */
function cut(text: string): string {
  const shown = [...text].slice(0, nameMax).join('') || '-'
  return shown.replaceAll('&', '&amp;amp;')
}
