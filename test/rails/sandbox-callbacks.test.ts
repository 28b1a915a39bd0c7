import {
  booked,
  minute,
  mobile,
  onEachBook,
  operators,
  owedCallbacks,
  request,
  second,
  until,
} from '../support/payments/sandbox-operators.ts'

onEachBook((t, { book, pool }) => {
  t.test('a returned payout is paid first, and its return is called back after the payment', async (t) => {
    const { rail, pass, listen, callbacks } = operators(t, book)
    const each = request('disbursement', mobile('0007'))
    await rail.submit(each)
    pass(minute)
    listen()
    await until(() => callbacks.length === 1)
    t.same(callbacks[0]?.result, { state: 'succeeded' })
    t.same(await rail.status(each.reference), { state: 'succeeded' }, 'it returns 10 s after it was paid')
    pass(10 * second)
    await until(() => callbacks.length === 2)
    t.same(callbacks[1]?.result, { state: 'returned' })
    t.match(await booked(pool, each.reference), { executions: 1 })
  })

  t.test('a return is never called back before its payment was accepted', async (t) => {
    const { rail, pass, listen } = operators(t, book)
    await rail.submit(request('disbursement', mobile('0007')))
    pass(minute)
    const told: string[] = []
    let accepted = 0
    listen(async ({ result }) => {
      told.push(result.state)
      if (told.length < 3) throw new Error('not now')
      accepted++
    })
    await until(() => {
      pass(minute)
      return accepted === 2
    })
    t.same(told, ['succeeded', 'succeeded', 'succeeded', 'returned'])
  })

  t.test('the number 0008 and injected repeats call back more than once', async (t) => {
    for (const [ending, repeatCallbacks, count] of [
      ['0008', 0, 2],
      ['0001', 2, 3],
    ] as const) {
      const { rail, pass, listen, callbacks } = operators(t, book, { repeatCallbacks })
      const each = request('disbursement', mobile(ending))
      await rail.submit(each)
      pass(2 * second)
      const subscription = listen()
      await until(async () => callbacks.length > 0 && (await owedCallbacks(pool)) === 0)
      // Who listened for the first number would take callbacks of the second.
      await subscription.close()
      t.equal(callbacks.length, count)
      t.match(await booked(pool, each.reference), { executions: 1 })
    }
  })

  t.test('a callback whose handler rejects comes again until it is accepted', async (t) => {
    const { rail, pass, listen } = operators(t, book)
    const each = request('collection', mobile('0001'))
    await rail.submit(each)
    pass(2 * second)
    let calls = 0
    listen(async () => {
      calls++
      if (calls < 4) throw new Error('not now')
    })
    await until(async () => {
      pass(minute)
      return calls > 0 && (await owedCallbacks(pool)) === 0
    })
    t.equal(calls, 4)
  })

  t.test('a callback in the hands of a process that died goes to another one', async (t) => {
    const { rail, pass, listen, callbacks } = operators(t, book)
    const each = request('collection', mobile('0001'))
    await rail.submit(each)
    pass(2 * second)
    let taken = false
    let die: (reason: Error) => void = () => undefined
    listen(() => {
      taken = true
      return new Promise((_, reject) => (die = reject))
    })
    t.teardown(() => die(new Error('the test has ended')))
    await until(() => taken)
    listen()
    pass(minute)
    await until(() => callbacks.length > 0)
    t.match(callbacks, [{ reference: each.reference }])
  })

  t.test('what a process settles after another one took over its callback does not count', async (t) => {
    const { rail, pass } = operators(t, book)
    const each = request('collection', mobile('0001'))
    await rail.submit(each)
    pass(2 * second)
    await rail.status(each.reference)
    const [late, later] = [new Date('2030-01-01'), new Date('2031-01-01')]
    const [first] = await book.claimCallbacks({ now: late, until: late, limit: 1 })
    const [other] = await book.claimCallbacks({ now: late, until: later, limit: 1 })
    if (!first || !other) throw new Error('there was no callback to claim')
    await book.settleCallbacks([{ ...first, accepted: true, nextAt: late }])
    t.equal(await owedCallbacks(pool), 1)
    await book.settleCallbacks([{ ...other, accepted: true, nextAt: late }])
    t.equal(await owedCallbacks(pool), 0)
  })

  t.test('several processes share the callbacks: each one is given once when it is accepted', async (t) => {
    const { rail, pass, listen, callbacks } = operators(t, book)
    const requests = Array.from({ length: 1_200 }, () => request('disbursement', mobile('0001')))
    await Promise.all(requests.map((each) => rail.submit(each)))
    pass(2 * second)
    for (const _ of [1, 2, 3]) listen()
    await until(async () => callbacks.length >= requests.length && (await owedCallbacks(pool)) === 0)
    const references = (all: readonly { reference: string }[]) => all.map(({ reference }) => reference).sort()
    t.same(references(callbacks), references(requests))
  })

  t.test('a resolved return calls off the callback of the payment', async (t) => {
    const { rail, pass } = operators(t, book)
    const each = request('disbursement', mobile('0001'))
    await rail.submit(each)
    pass(2 * second)
    t.same(await rail.status(each.reference), { state: 'succeeded' })
    t.match(await booked(pool, each.reference), { callbacksOwed: 1 })
    await rail.resolve(each.reference, { state: 'returned' })
    t.match(await booked(pool, each.reference), { callbacksOwed: 0, executions: 1 })
  })
})
