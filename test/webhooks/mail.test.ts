import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import { fileMailer } from '../../infra/mail/files.ts'
import { smtpMailer } from '../../infra/mail/smtp.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory } from '../support/postgres.ts'

const mail = { to: 'awa@shop.example', subject: 'Clé perdue', text: 'Votre clé a été remplacée.\nÀ bientôt' }

t.test('without a mail server each mail is a file that a mail program opens', async (t) => {
  const directory = join(temporaryDirectory(t), 'mail')
  const mailer = fileMailer({ directory, from: 'payments@example.com' })
  await Promise.all([mailer.send(mail), mailer.send(mail)])
  const names = readdirSync(directory)
  t.equal(names.length, 2)
  await lawOver(t, names, (name) => {
    t.match(name, /^[^.].*\.eml$/)
    const text = readFileSync(join(directory, name), 'utf8')
    t.match(
      text,
      /^From: payments@example\.com\r\nTo: awa@shop\.example\r\nSubject: =\?UTF-8\?Q\?Cl=C3=A9_perdue\?=\r\n/,
    )
    t.match(text, /\r\n\r\nVotre cl=C3=A9 a/)
  })
})

/** Speaks as much SMTP as one mail needs. */
async function mailServer(t: Test, { refuses = '', by = '550 no such user' } = {}) {
  const mails: string[] = []
  const server = createServer((socket) => {
    let data: string | undefined
    const say = (line: string) => socket.write(`${line}\r\n`)
    say('220 mail.example ready')
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      if (data !== undefined) {
        data += chunk
        if (!data.endsWith('\r\n.\r\n')) return
        mails.push(data)
        data = undefined
        say('250 taken')
      } else if (refuses && chunk.startsWith(refuses)) say(by)
      else if (chunk.startsWith('DATA')) {
        data = ''
        say('354 go on')
      } else say('250 fine')
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.teardown(() => void server.close())
  const mailer = smtpMailer({
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    from: 'payments@example.com',
    timeoutMs: 5_000,
  })
  t.teardown(() => mailer.close())
  return { mailer, mails }
}

t.test('a mail is sent when the mail server has taken it', async (t) => {
  const { mailer, mails } = await mailServer(t)
  await mailer.send(mail)
  t.equal(mails.length, 1)
  t.match(mails[0], /To: awa@shop\.example\r\n/)
})

t.test('what a mail server says of an address is told without it', async (t) => {
  for (const by of ['550 5.1.1 <Awa@shop.example>: no such user', '451 awa@shop.example: greylisted']) {
    const { mailer } = await mailServer(t, { refuses: 'RCPT', by })
    const told: unknown = await mailer.send(mail).catch((error: unknown) => error)
    t.match(inspect(told), by.slice(0, 3))
    t.notMatch(inspect(told, { depth: 9, showHidden: true }), /shop\.example/i)
  }
})

t.test('a mail that the mail server refuses is not sent', async (t) => {
  const { mailer, mails } = await mailServer(t, { refuses: 'RCPT' })
  await t.rejects(mailer.send(mail), { name: 'MailRefusedError', message: /550/ })
  t.strictSame(mails, [])
})

t.test('a mail server that takes nothing now has refused no mail', async (t) => {
  const { mailer } = await mailServer(t, { refuses: 'RCPT', by: '451 try again later' })
  await t.rejects(mailer.send(mail), { name: 'MailDeferredError', message: /451/ })
  const { mailer: ending } = await mailServer(t, { refuses: 'RCPT', by: '421 shutting down' })
  await t.rejects(ending.send(mail), { name: 'Error', message: /421/ })
  const away = smtpMailer({ url: 'smtp://127.0.0.1:1', from: 'payments@example.com', timeoutMs: 5_000 })
  await t.rejects(away.send(mail), { code: 'ESOCKET' })
})
