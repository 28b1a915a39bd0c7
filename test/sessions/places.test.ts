import t from 'tap'
import { clientCountry } from '../../services/api/http/client-address.ts'
import { withTotp } from '../support/identities/second-factors.ts'
import { startService, type TestService } from '../support/service.ts'
import { as, newUser, type SignedIn } from '../support/identities/sign-in.ts'

const auth = '/api/v1/auth'

let service: TestService

t.before(async () => {
  service = await startService(t, { TRUSTED_PROXIES: '127.0.0.0/8', COUNTRY_HEADER: 'CF-IPCountry' })
})

async function countries(by: SignedIn): Promise<readonly (string | null)[]> {
  const answer = await service.get<{ data: { country: string | null }[] }>(`${auth}/sessions`, as(by))
  return answer.body.data.map(({ country }) => country)
}

t.test('a session shows in which country it was last used, as a trusted proxy says', async (t) => {
  const awa = await newUser(service)
  t.strictSame(await countries(awa), [null], 'no proxy has said anything')
  const from = (country: string) => ({ key: '', headers: { 'cf-ipcountry': country } })
  const { email, password } = awa
  t.equal((await service.post(`${auth}/login`, { email, password }, from('CI'))).status, 200)
  t.strictSame(await countries(awa), ['CI', null])
  const { refreshToken } = awa
  t.equal((await service.post(`${auth}/refresh`, { refreshToken }, from('sn'))).status, 200)
  t.strictSame(await countries(awa), ['CI', 'SN'])
})

t.test('what anybody could have written, or what names no country, says nothing', async (t) => {
  const proxies = { trustedProxies: ['10.0.0.0/8'], countryHeader: 'cf-ipcountry' }
  const countryOf = clientCountry(proxies)
  const request = (remoteAddress: string | undefined, country?: string) =>
    ({ socket: { remoteAddress }, headers: { 'cf-ipcountry': country } }) as never
  t.equal(countryOf(request('10.1.2.3', 'CI')), 'CI')
  t.equal(countryOf(request('192.0.2.1', 'CI')), null, 'a stranger')
  t.equal(countryOf(request(undefined, 'CI')), null, 'whose connection is gone')
  for (const nowhere of ['XX', 'T1', '', 'CIV', 'CI, SN', undefined])
    t.equal(countryOf(request('10.1.2.3', nowhere)), null, String(nowhere))
  const unset = clientCountry({ trustedProxies: ['10.0.0.0/8'], countryHeader: undefined })
  t.equal(unset(request('10.1.2.3', 'CI')), null)
})

t.test('a user sees whether there is a second factor, and that no merchant demands one', async (t) => {
  const awa = await newUser(service)
  const isOn = async () => (await service.get(`${auth}/me`, as(awa))).body['mfa_enabled']
  t.equal(await isOn(), false)
  await withTotp(service, awa)
  t.equal(await isOn(), true)
  const { body } = await service.get(`${auth}/mfa`, as(awa))
  t.match(body, { totp_enabled: true, required_by_merchant: false })
})
