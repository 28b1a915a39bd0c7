import { setTimeout as pause } from 'node:timers/promises'
import { readConfiguration } from '../../../infra/configuration.ts'
import { claiming } from '../../../services/composition/claiming.ts'
import { openRuntime } from '../../../services/composition/dependencies.ts'
import { seller } from '../commerce/sellers.ts'

/** Like an API process: many sellers at once want one name after the other. Prints who got each. */
const [environment = '', merchant = '', names = '', times = ''] = process.argv.slice(2)
const { dependencies } = await openRuntime(
  readConfiguration(JSON.parse(environment) as Record<string, string>),
)
const { executor, newId } = dependencies

async function open(name: string): Promise<string> {
  const id = newId()
  const envelope = { merchant, livemode: false, actor: 'test', correlation: id }
  const wanted = [
    { kind: 'seller_external_id', value: name, refusal: 'resource_must_not_exist_yet' } as const,
  ]
  const take = async (held: readonly { readonly claim: string; readonly hold: string }[]) => {
    // Long enough for the sweeper to run in between now and then.
    if (Math.random() < 0.5) await pause(Math.random() * 1_000)
    return executor.send(seller, id, { type: 'OpenSeller', data: { held } }, envelope)
  }
  try {
    await claiming({ dependencies, envelope }, { category: seller.category, id }, { wanted, take })
    return `opened ${name} ${id}`
  } catch {
    return `refused ${name} ${id}`
  }
}

for (const name of names.split(',')) {
  const asked = Array.from({ length: Number(times) }, async () =>
    process.stdout.write(`${await open(name)}\n`),
  )
  await Promise.all(asked)
}
process.stdout.write('done\n')
