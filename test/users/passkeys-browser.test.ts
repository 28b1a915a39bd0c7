import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CDPSession, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { visitor } from '../support/pages/browser.ts'
import type { Options } from '../support/identities/passkeys.ts'
import { startService, type TestService } from '../support/service.ts'
import { newUser, type SignedIn } from '../support/identities/sign-in.ts'

const passkeys = '/api/v1/auth/passkeys'
const open = { key: '' }

let service: TestService
let origin: string

t.before(async () => {
  const pages = createServer((_, response) => response.end('<!doctype html><title>Dashboard</title>'))
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
  t.teardown(() => pages.close())
  origin = `http://localhost:${(pages.address() as AddressInfo).port}`
  service = await startService(t, { DASHBOARD_URL: origin })
})

interface Browser {
  readonly page: Page
  readonly devices: CDPSession
}

async function browserOf(t: Test): Promise<Browser> {
  const page = await visitor(t, { device: 'desktop' })
  await page.goto(origin)
  const devices = await page.context().newCDPSession(page)
  await devices.send('WebAuthn.enable')
  return { page, devices }
}

/** A device whose owner touches it and shows a finger at once. */
async function device({ devices }: Browser, knowsUsers: boolean): Promise<string> {
  const { authenticatorId } = await devices.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: knowsUsers ? 'internal' : 'usb' },
      ...{ hasResidentKey: knowsUsers, hasUserVerification: true, isUserVerified: true },
      ...{ automaticPresenceSimulation: true },
      ...(knowsUsers && { defaultBackupEligibility: true, defaultBackupState: true }),
    },
  })
  return authenticatorId
}

/** What the browser answers to options as the API gives them. */
function ask({ page }: Browser, method: 'create' | 'get', options: Options): Promise<object> {
  const parse = method === 'create' ? 'parseCreationOptionsFromJSON' : 'parseRequestOptionsFromJSON'
  const wanted = JSON.stringify(options.public_key)
  const credential = `navigator.credentials.${method}({ publicKey: PublicKeyCredential.${parse}(${wanted}) })`
  return page.evaluate(`${credential}.then((made) => made.toJSON())`)
}

async function post(path: string, body: object, key: object): Promise<Record<string, unknown>> {
  const answer = await service.post(`${passkeys}/${path}`, body, key)
  t.ok(answer.status < 300, `POST ${path} answers ${JSON.stringify(answer.body)}`)
  return answer.body
}

async function register(browser: Browser, { token: key }: SignedIn, body = {}) {
  const options = (await post('registration/begin', body, { key })) as unknown as Options
  const attestationResponse = await ask(browser, 'create', options)
  return post('registration/complete', { attestationResponse }, { key })
}

async function signIn(browser: Browser, body: object) {
  const options = (await post('login/begin', body, open)) as unknown as Options
  return post('login/complete', { assertionResponse: await ask(browser, 'get', options) }, open)
}

async function proof(browser: Browser, { token: key }: SignedIn, purpose: string): Promise<string> {
  const options = (await post('assertion/begin', { purpose }, { key })) as unknown as Options
  const assertionResponse = await ask(browser, 'get', options)
  return String((await post('assertion/complete', { assertionResponse }, { key }))['id'])
}

t.test(
  'a browser registers a passkey, signs in with it unasked for a name, and proves a change',
  async (t) => {
    const [browser, user] = [await browserOf(t), await newUser(service)]
    const authenticatorId = await device(browser, true)
    t.match(await register(browser, user), {
      transports: ['internal'],
      backup_eligible: true,
      backed_up: true,
    })
    t.match(await signIn(browser, {}), { object: 'auth_session', user: { id: user.id } })
    const challengeId = await proof(browser, user, 'change_password')
    const body = { challengeId, newPassword: 'encore quatre mots au hasard' }
    const changed = await service.post('/api/v1/auth/change-password-mfa', body, { key: user.token })
    t.equal(changed.status, 200)
    await browser.devices.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await t.rejects(signIn(browser, {}), /NotAllowedError/, 'somebody else holds the device')
  },
)

t.test('a key that knows no users signs in where the address is given', async (t) => {
  const [browser, user] = [await browserOf(t), await newUser(service)]
  const authenticatorId = await device(browser, true)
  await register(browser, user)
  const challengeId = await proof(browser, user, 'passkey_registration')
  await browser.devices.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
  await device(browser, false)
  t.match(await register(browser, user, { challengeId }), {
    transports: ['usb'],
    backup_eligible: false,
    backed_up: false,
  })
  t.match(await signIn(browser, { email: user.email }), { user: { id: user.id } })
  t.match(await signIn(browser, { email: user.email }), { user: { id: user.id } }, 'its counter has grown')
})
