import { randomUUID } from 'node:crypto'
import t from 'tap'
import { logoBytesMax } from '../../packages/domain/branding/branding.ts'
import { pictures } from '../../packages/domain/branding/examples.ts'
import { openSession } from '../support/commerce/checkout.ts'
import { issueKey, otherMerchantsKey } from '../support/credentials.ts'
import { lawOver } from '../support/law.ts'
import { startService, type TestService } from '../support/service.ts'

const settings = '/api/v1/merchant/settings/branding'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

const put = (bytes: Uint8Array | string, key = service.sandboxKey) => {
  const contentBase64 = typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('base64')
  return service.call('PUT', `${settings}/logo`, { contentBase64 }, { key })
}
const blue = Buffer.from(pictures.blue, 'base64')

/** The same picture with other sides, which its header says. */
function sized(width: number, height: number): Buffer {
  const picture = Buffer.from(blue)
  picture.writeUInt32BE(width, 16)
  picture.writeUInt32BE(height, 20)
  return picture
}

t.test('pages show the logo of their merchant, from our own address, until it is taken away', async (t) => {
  const { id } = await openSession(service)
  const logoOf = async () => {
    const { body } = await service.get<{ merchant: { logo_url: string | null } }>(`/api/checkout/${id}`)
    return body.merchant.logo_url
  }
  t.equal(await logoOf(), null)
  const changed = await put(pictures.blue)
  const url = String(changed.body['logo_url'])
  t.match(changed, {
    status: 200,
    body: { object: 'branding', logo_url: /\/assets\/logo-[0-9a-f]{64}\.png$/ },
  })
  t.equal(await logoOf(), url)
  const picture = await fetch(service.url + new URL(url).pathname)
  t.strictSame(Buffer.from(await picture.arrayBuffer()), blue)
  t.match(Object.fromEntries(picture.headers), {
    'content-type': 'image/png',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': 'public, max-age=86400, immutable',
  })
  t.equal((await fetch(service.url + new URL(url).pathname.replace('.png', '.webp'))).status, 404)
  await service.call('PATCH', settings, { accent_color: '#7a1fa2' })
  t.equal(await logoOf(), url, 'another color changes nothing about it')
  t.match((await service.call('DELETE', `${settings}/logo`)).body, {
    logo_url: null,
    accent_color: '#7a1fa2',
  })
  t.equal(await logoOf(), null)
  const old = () => fetch(service.url + new URL(url).pathname)
  t.equal((await old()).status, 404, 'nor at its old address')
  const other = await otherMerchantsKey(service, randomUUID())
  await put(pictures.blue, other)
  t.equal((await old()).status, 200, 'unless another merchant shows the same picture')
  await put(pictures.green, other)
  t.equal((await old()).status, 404)
})

t.test('what is no small picture is refused, whatever it says it is', async (t) => {
  const text = (content: string) => Buffer.from(content)
  const refused = {
    'a drawing that can run': text('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
    'a page': text('<!doctype html><script>alert(1)</script>'),
    'an animation': text('GIF89a\x01\x00\x01\x00'),
    'only the beginning of a PNG': blue.subarray(0, 12),
    'only the beginning of a JPEG': Buffer.from([0xff, 0xd8, 0xff, 0xe0]),
    'only the beginning of a WebP': text('RIFF\x00\x00\x00\x00WEBP'),
    'a picture that is too small': sized(16, 16),
    'a picture that is too wide': sized(5_000, 64),
    'a picture of too many bytes': Buffer.concat([blue, Buffer.alloc(logoBytesMax)]),
  }
  await lawOver(t, Object.entries(refused), async ([what, bytes]) => {
    const answer = await put(bytes)
    t.match(answer, { status: 400, body: { code: 'IKW-ASSET-001', param: '/contentBase64' } }, what)
  })
  t.match(await put('not base64!'), { status: 400, body: { code: 'IKW-REQ-001' } })
  t.equal((await put('A'.repeat(199_999))).status, 400)
  t.match((await service.get(settings)).body, { logo_url: null })
})

t.test('a logo is one merchant’s in one environment, and changed by those who may', async (t) => {
  const other = await otherMerchantsKey(service, randomUUID())
  await put(pictures.green, other)
  t.match((await service.get(settings, { key: other })).body, { logo_url: /png$/ })
  t.match((await service.get(settings)).body, { logo_url: null })
  await put(pictures.green)
  t.match((await service.get(settings, { key: service.liveKey })).body, { logo_url: null })
  t.equal((await put(pictures.blue, await issueKey(service, { scopes: ['settings.read'] }))).status, 403)
})

t.test('logos that nobody shows any more are dropped', async (t) => {
  const { pool } = service.service.runtime.postgres
  await put(pictures.blue)
  await put(pictures.green)
  await pool.query(`update images set kept_at = now() - interval '2 hours'`)
  const { merchant_id: merchant } = service.service.credentials
  const kept = async () => {
    const own = 'select count(*)::int as count from images where merchant = $1 and not livemode'
    return (await pool.query<{ count: number }>(own, [merchant])).rows[0]!.count
  }
  t.equal(await kept(), 2)
  await put(pictures.green)
  t.equal(await kept(), 1)
  t.match((await service.get(settings)).body, { logo_url: /png$/ }, 'what is shown stays')
})

t.test('ten at once end with one of them, which is there', async (t) => {
  const all = Array.from({ length: 10 }, (_, index) => put(index % 2 === 0 ? pictures.blue : pictures.green))
  t.ok((await Promise.all(all)).every(({ status }) => status === 200))
  const { body } = await service.get(settings)
  t.equal((await fetch(service.url + new URL(String(body['logo_url'])).pathname)).status, 200)
})
