import { join } from 'node:path'
import t from 'tap'
import { readBackup } from '../../infra/backup/read.ts'
import { upcast, type EventType } from '../../packages/kernel/event-types.ts'
import type { StoredEvent } from '../../packages/kernel/ports.ts'
import { lawOver } from '../support/law.ts'
import { root } from '../support/root.ts'
import { schemaExample } from '../support/schemas/schema-example.ts'
import { schemaFaults } from '../support/schemas/schema-faults.ts'
import { declaredTypes, plain, readFormats, recordFormats } from '../support/event-store/stored-formats.ts'

/** Written by the commit before the second format: every type of event there was. */
const firstFormat = join(root, 'test/fixtures/first-format')

async function eventsOfTheFirstFormat(): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = []
  for await (const page of readBackup(firstFormat)!.source.pages(0, Infinity)) events.push(...page)
  return events
}

t.before(async () => {
  if (process.env['RECORD'] !== '1') return
  const old = await eventsOfTheFirstFormat()
  recordFormats((type, declared) => {
    const known = old.find((event) => event.type === type)
    return known
      ? upcast(declared, known.metadata.version, known.data)
      : (schemaExample(declared.schema) as object)
  })
})

t.test('a stored schema never changes without a new version', async (t) => {
  const formats = readFormats()
  await lawOver(t, declaredTypes(), ([type, { version, schema }]) => {
    const recorded = formats.find((format) => format.type === type && format.version === version)
    const hint = `${type} ${version} is not recorded: RECORD=1 node dist/test/laws/stored-events.test.js`
    t.strictSame(
      plain(schema),
      recorded && plain(recorded.schema),
      recorded ? `${type} needs a new version` : hint,
    )
  })
})

t.test('what was stored in any version can be read as the newest', async (t) => {
  const types = declaredTypes()
  await lawOver(t, readFormats(), ({ type, version, schema, data }) => {
    const declared = types.get(type)
    t.ok(declared && declared.version >= version, `${type} ${version} is still declared`)
    t.strictSame(schemaFaults(schema as EventType['schema'], data), [], `the example of ${type} ${version}`)
    t.strictSame(schemaFaults(declared!.schema, upcast(declared!, version, data)), [], `${type} ${version}`)
  })
})

t.test('events of the first format can be read as the newest', async (t) => {
  const types = declaredTypes()
  await lawOver(t, await eventsOfTheFirstFormat(), ({ type, metadata, data, stream, revision }) => {
    const declared = types.get(type)!
    t.strictSame(
      schemaFaults(declared.schema, upcast(declared, metadata.version, data)),
      [],
      `${stream} ${revision}`,
    )
  })
})
