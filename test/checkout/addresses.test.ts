import t from 'tap'
import { partsOf } from '../../packages/contract/openapi/names.ts'
import { routes } from '../../services/families.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { openSession } from '../support/commerce/checkout.ts'
import { lawOver } from '../support/law.ts'
import { unknownSample } from '../support/samples.ts'
import { startService, type TestService } from '../support/service.ts'

// What browsers are shown at addresses that are no pages.

let service: TestService

t.before(async () => {
  service = await startService(t)
})

async function visit(path: string, method = 'GET') {
  const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'accept-language': 'en' }
  const {
    status,
    headers: told,
    body,
  } = await service.call<string>(method, path, undefined, { key: '', headers })
  return { status, location: told.get('location'), type: told.get('content-type'), body }
}

const pages = routes.filter((route) => 'page' in route && partsOf(route).method === 'GET')
const places = pages.map((route) => new RegExp(`^${partsOf(route).path.replaceAll(/\{\w+\}/g, '[^/]+')}$`))
const forms = routes.filter(({ form }) => form === true)

t.test('what the address bar holds after a form was refused leads to its page', async (t) => {
  t.ok(forms.length > 0)
  await lawOver(t, forms, async (route) => {
    const { path } = unknownSample(route)
    const query = '?lang=fr&back=https://shop.example/?order=7&country=CI'
    const { status, location } = await visit(path + query)
    t.equal(status, 303, route.operation)
    t.ok(location!.endsWith(query), location!)
    const page = location!.slice(0, -query.length)
    t.ok(path.startsWith(`${page}/`), location!)
    t.ok(
      places.some((place) => place.test(page)),
      location!,
    )
    t.equal((await visit(`${path}/`)).location, page, 'also with a slash behind it')
    t.match(
      await service.get(path, { key: '' }),
      { status: 405 },
      'programs are told which methods there are',
    )
    t.equal((await visit(path, 'DELETE')).status, 405)
  })
})

const missing = [
  '/pay',
  '/portal',
  '/invoice',
  '/checkout/session',
  '/pay/%E0%A4%A',
  '/invoice/x/receipt.pdf',
]

t.test('a browser is told in words that there is no such page, a program in JSON', async (t) => {
  await lawOver(t, missing, async (path) => {
    const shown = await visit(path)
    t.match(shown, { status: 404, type: 'text/html; charset=utf-8', body: 'There is no such page' }, path)
    const { status, headers } = await service.get(path, { key: '' })
    t.equal(status, 404, path)
    t.equal(headers.get('content-type'), 'application/problem+json; charset=utf-8', path)
  })
  t.match(await visit('/api/v1/nothing'), { status: 404, type: 'application/problem+json; charset=utf-8' })
})

t.test('the page about a missing page leads to nobody else', async (t) => {
  const { body } = await visit('//evil.example/pay')
  t.notMatch(body, 'href="//')
})

t.test('a receipt that is not there yet is no page either', async (t) => {
  const { id } = await openSession(service)
  const shown = await visit(`/checkout/session/${id}/receipt.pdf`)
  t.match(shown, { type: 'text/html; charset=utf-8' })
  t.notMatch(shown, { status: 200 })
})

t.test('an address that names no language or country of ours shows the page all the same', async (t) => {
  const { body } = await service.post('/api/v1/merchant/invoices', { amount: 5_000, currency: 'XOF' })
  const { pathname } = new URL(String(body['hosted_invoice_url']))
  const shownIn = async (query: string, language: string) => {
    const shown = await visit(`${pathname}?${query}`)
    t.equal(shown.status, 200, query)
    t.match(shown.body, `<html lang="${language}">`, query)
  }
  const long = 'x'.repeat(300)
  const french = ['lang=fr', 'lang=FR', 'lang=fr-CI', 'lang=fr&lang=en', 'lang=fr&status=1&status=2']
  await lawOver(t, french, (query) => shownIn(`${query}&country=${long}`, 'fr'))
  const others = ['lang=en', 'lang=de', 'lang=', 'lang=fr%22%3E', `lang=${long}`, 'lang=en&lang=fr']
  await lawOver(t, others, (query) => shownIn(`${query}&country=`, 'en'))
})

testConservation(() => service)
