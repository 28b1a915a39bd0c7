import t from 'tap'
import { marketOf, operators, type OperatorCode } from '../../packages/contract/payments/catalog.ts'
import { openSession } from '../support/commerce/checkout.ts'
import { lawOver } from '../support/law.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

/** No magic number: it waits for the operator's answer. */
const unanswered = (country: string) => `${marketOf(country)!.msisdnExample.slice(0, -2)}42`

/** What each operator's customers know what they approve with by. */
const approvedWith: Readonly<Record<OperatorCode, { readonly fr: RegExp; readonly en: RegExp }>> = {
  orange_money: { fr: /code secret Orange Money.*Max it/s, en: /Orange Money secret code.*Max it/s },
  mtn: { fr: /code PIN MoMo.*Approbations/s, en: /MoMo PIN.*Approvals/s },
  moov: { fr: /code secret Moov Money.*application Moov Money/s, en: /Moov Money secret code/ },
  // Wave leads the payer on itself.
  wave: { fr: /continue dans Wave.*code secret Wave/s, en: /goes on in Wave.*Wave PIN/s },
  free_money: { fr: /code secret Free Money/, en: /Free Money secret code/ },
}

t.test('a payer reads what to do in the words of each operator, in both languages', async (t) => {
  const brands = [...new Map(operators.map((operator) => [operator.code, operator])).values()]
  t.strictSame(brands.map(({ code }) => code).toSorted(), Object.keys(approvedWith).toSorted())
  await lawOver(t, brands, async ({ code, country, currency, minimumMinor }) => {
    const { id, url } = await openSession(service, { country, currency, amount: minimumMinor })
    const form = { PaymentMethod: 'mobile_money', Operator: code, PhoneNumber: unanswered(country) }
    const pressed = await fetch(`${service.url}/checkout/session/${id}/pay`, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { accept: 'text/html' },
      redirect: 'manual',
    })
    t.equal(pressed.status, 303, code)
    for (const language of ['fr', 'en'] as const) {
      const shown = await fetch(`${url}?lang=${language}`, { headers: { accept: 'text/html' } })
      const text = await shown.text()
      t.match(text, approvedWith[code][language], `${code} ${language}`)
      const others = Object.entries(approvedWith).filter(([other]) => other !== code)
      for (const [other, words] of others) t.notMatch(text, words[language], `${code}, not ${other}`)
    }
  })
})
