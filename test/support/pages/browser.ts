import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core'
import file, { type Test } from 'tap'
import { root } from '../root.ts'

/** Build output: pages as they looked in the last run, to be looked at. */
const pictures = join(root, '.build', 'screenshots')

/** No request leaves this machine, not even those that Chromium makes for itself. */
const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export interface Visitor {
  /** `fr` or `en`, as the browser asks for it. */
  readonly language?: string
  readonly device?: 'phone' | 'desktop'
  readonly javaScript?: boolean
  readonly dark?: boolean
}

const screens = { phone: { width: 360, height: 740 }, desktop: { width: 1280, height: 800 } } as const

let running: Promise<Browser> | undefined

/** A visitor with an empty browser of their own, which ends with the test. */
export async function visitor(
  t: Test,
  { language = 'en', device = 'phone', javaScript = true, dark = false }: Visitor = {},
): Promise<Page> {
  const context = await (
    await browser()
  ).newContext({
    locale: language,
    viewport: screens[device],
    javaScriptEnabled: javaScript,
    colorScheme: dark ? 'dark' : 'light',
    isMobile: device === 'phone',
    hasTouch: device === 'phone',
  })
  t.teardown(() => context.close())
  await stayHere(context)
  return context.newPage()
}

/** Requests to other machines fail, as they would for a payer whose operator blocks them. */
async function stayHere(context: BrowserContext): Promise<void> {
  await context.route(
    ({ hostname }) => !['127.0.0.1', 'localhost'].includes(hostname),
    (route) => route.abort(),
  )
}

/** One browser for the whole test file, started when it is first needed. */
function browser(): Promise<Browser> {
  return (running ??= start())
}

async function start(): Promise<Browser> {
  const started = await launch(unpacked)
  file.teardown(() => started.close())
  return started
}

interface Found {
  readonly executablePath: string
  readonly environment: Readonly<Record<string, string>>
}

/** Without a browser, pages are not tested: one line says what is missing, and the test fails. */
export async function launch(find: () => Promise<Found>): Promise<Browser> {
  try {
    const { executablePath, environment } = await find()
    return await chromium.launch({ executablePath, args: flags, env: environment })
  } catch (cause) {
    const [why] = String((cause as Error).message).split('\n')
    const missing = new Error(`No browser to test pages with: ${why} (npm ci brings one)`)
    // What is missing matters, not where it was missed.
    missing.stack = missing.message
    throw missing
  }
}

/**
 * Chromium and the libraries that a bare machine lacks come packed with the tests' packages. They are
 * unpacked once, and moved into place as a whole, since several test files may want them at the same time.
 */
async function unpacked(): Promise<Found> {
  const { version } = JSON.parse(
    readFileSync(join(root, 'node_modules/@sparticuz/chromium/package.json'), 'utf8'),
  ) as { readonly version: string }
  const home = join(root, '.build', `chromium-${version}`)
  if (!existsSync(home)) await unpack(home)
  const environment = {
    ...(process.env as Record<string, string>),
    LD_LIBRARY_PATH: join(home, 'al2023', 'lib'),
    FONTCONFIG_FILE: fontsIn(home),
  }
  return { executablePath: join(home, 'chromium'), environment }
}

/** Tells where the fonts are: a bare machine has none, and letters would be missing in pictures. */
function fontsIn(home: string): string {
  const file = join(home, 'fonts.conf')
  const folders = [join(home, 'fonts'), join(root, 'node_modules/dejavu-fonts-ttf/ttf')]
  const dirs = folders.map((folder) => `<dir>${folder}</dir>`).join('')
  writeFileSync(file, `<fontconfig>${dirs}<cachedir>${join(home, 'fonts-cache')}</cachedir></fontconfig>`)
  return file
}

async function unpack(home: string): Promise<void> {
  const half = `${home}.${process.pid}`
  mkdirSync(half, { recursive: true })
  const { TMPDIR: before } = process.env
  // The package unpacks into the directory for temporary files, with its libraries only where it believes
  // to be needed.
  Object.assign(process.env, { TMPDIR: half, AWS_LAMBDA_JS_RUNTIME: 'nodejs20.x' })
  const { default: packed } = await import('@sparticuz/chromium')
  await packed.executablePath()
  if (before === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = before
  try {
    renameSync(half, home)
  } catch (error) {
    // Another test file was faster.
    if (!existsSync(home)) throw error
    rmSync(half, { recursive: true })
  }
}

/**
 * Whether the page shows it by now, looked for as by a payer who loads it again: a page that moves on by
 * itself may be doing so just then.
 */
export async function showsByNow(page: Page, sign: Locator): Promise<boolean> {
  const isShown = async () => (await sign.count().catch(() => 0)) > 0
  if (await isShown()) return true
  await page.goto(page.url()).catch(() => undefined)
  return isShown()
}

/** Keeps how the page looks, for somebody to look at. One that loads itself just then is taken again. */
export async function picture(page: Page, name: string): Promise<void> {
  const take = () => page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true })
  await take().catch(take)
}

const axe = readFileSync(join(root, 'node_modules/axe-core/axe.min.js'), 'utf8')

/** What axe finds wrong with the page for people who use keyboards and screen readers; must be nothing. */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger, which the page's policy does not forbid.
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => (globalThis as unknown as Axe).axe.run())
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
}

interface Axe {
  readonly axe: {
    run(): Promise<{ violations: readonly { id: string; nodes: readonly { html: string }[] }[] }>
  }
}

/** Lighthouse's slow telephone: 1.6 Mbit/s, 150 ms there and back, a quarter of this processor. */
const slowly = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 }
const slowdown = 4

/** When the first contents were painted on a slow telephone, in milliseconds; kept as build output. */
export async function firstPaintMs(page: Page, url: string, name: string): Promise<number> {
  const telephone = await page.context().newCDPSession(page)
  await telephone.send('Network.enable')
  await telephone.send('Network.emulateNetworkConditions', slowly)
  await telephone.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
  await page.goto(url)
  // A page can have loaded before it is painted.
  const painted = await page.waitForFunction(() => {
    const { performance } = globalThis as unknown as { performance: Painted }
    return performance.getEntriesByName('first-contentful-paint')[0]?.startTime
  })
  const paintedAt = (await painted.jsonValue())!
  mkdirSync(pictures, { recursive: true })
  writeFileSync(
    join(pictures, `${name}.json`),
    JSON.stringify({ firstContentfulPaintMs: Math.round(paintedAt) }),
  )
  return paintedAt
}

interface Painted {
  getEntriesByName(name: string): readonly { readonly startTime: number }[]
}

/** Whether something is wider than the screen, so that the page scrolls sideways. */
export async function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = (globalThis as unknown as Screen).document.documentElement
    return scrollWidth > clientWidth
  })
}

interface Screen {
  readonly document: {
    readonly documentElement: { readonly scrollWidth: number; readonly clientWidth: number }
  }
}
