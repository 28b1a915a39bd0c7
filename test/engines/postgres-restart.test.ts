import t from 'tap'
import { startEmbeddedPostgres } from '../../infra/postgres/server/embedded.ts'
import { readConfiguration } from '../../infra/configuration.ts'
import { readModels } from '../../projections/index.ts'
import { startService } from '../../services/all-in-one/start.ts'
import { brokenLaws } from '../support/load/checker.ts'
import { eventually } from '../support/eventually.ts'
import { Load } from '../support/load/load.ts'
import { seeded } from '../support/random.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { replayDifferences } from '../support/verifying/replay.ts'
import { freeDeadKeys, settled, Time } from '../support/payments/settling.ts'
import { killPostgres } from '../support/processes/postmaster.ts'
import { clientOf } from '../support/service.ts'

const servers = 8
const restarts = 3
const answersBetween = 60

t.test(
  'a database that crashes and comes back loses nothing, and the service goes on by itself',
  async (t) => {
    const home = temporaryDirectory(t)
    let postgres = await startEmbeddedPostgres({ directory: home })
    t.teardown(() => postgres.stop())
    const time = new Time()
    const settings = { PORT: '0', DATA_DIR: temporaryDirectory(t), LOG_LEVEL: 'silent', RATE_LIMIT: 'off' }
    const service = await startService(readConfiguration({ ...settings, POSTGRES_URL: postgres.url }), time)
    t.teardown(() => service.close())
    const client = clientOf(service)
    const load = new Load(t, {
      random: seeded(1),
      addresses: () => [client.url],
      merchants: [{ id: 'first', key: client.sandboxKey, servers }],
      mix: { payouts: 0.5, payments: 0.3, refunds: 0.2 },
    })
    load.start()
    for (let restart = 0; restart < restarts; restart++) {
      await load.answers(answersBetween)
      t.ok(killPostgres(home), 'it is gone')
      await eventually(
        () => client.get('/readyz'),
        ({ status }) => status === 503,
      )
      postgres = await startEmbeddedPostgres({ directory: home })
    }
    await load.answers(answersBetween)
    await load.stop()
    const failures = load.answered().filter(({ answer }) => answer.status >= 500)
    t.strictSame(failures.slice(0, 5), [], 'what a crash costs is worth another try, and says so')

    t.comment(
      `${load.answered().length} answers, ${load.answered().filter(({ tries }) => tries > 1).length} of them to repeated requests`,
    )
    time.fly()
    await freeDeadKeys(service.runtime.postgres.pool)
    await load.finish()
    await settled(service.runtime.postgres.pool)
    const missing = []
    for (const { path, answer } of [...load.answered('payout'), ...load.answered('payment_intent')].filter(
      ({ answer }) => answer.status < 300,
    )) {
      const { status } = await client.get(`${path}/${String(answer.body['id'])}`)
      if (status !== 200) missing.push({ answered: answer.body, status })
    }
    t.strictSame(missing, [], 'everything that was answered is there')
    t.strictSame(await brokenLaws(service.runtime.postgres.pool), {})
    t.strictSame(
      await replayDifferences(service.runtime, readModels),
      {},
      'each read model equals a replay of the log',
    )
  },
)
