import t from 'tap'
import { launch } from '../support/pages/browser.ts'

t.test('where no browser is there, one line says what is missing', async (t) => {
  const absent = { executablePath: '/nowhere/chromium', environment: {} }
  const unreadable = new Error("ENOENT: no such file or directory, open '/nowhere/package.json'\n  at …")
  for (const find of [async () => absent, () => Promise.reject(unreadable)]) {
    const failed = await launch(find).then(
      () => undefined,
      (error: unknown) => error as Error,
    )
    t.match(failed?.message, /^No browser to test pages with: .*\/nowhere\/.*npm ci/)
    t.equal(failed?.stack, failed?.message)
    t.notMatch(failed?.message, '\n')
  }
})
