interface Closable {
  close(): Promise<unknown>
}

/** A failed start leaves nothing open: an embedded server would outlive it. */
export async function orClose<Result>(opened: Closable, start: () => Promise<Result>): Promise<Result> {
  try {
    return await start()
  } catch (error) {
    await opened.close().catch(() => undefined)
    throw error
  }
}

/**
 * Closes one after the other, those of a list together. Where one fails, as while its database recovers, the
 * others are closed all the same, and then the first failure is thrown.
 */
export async function closeInTurn(...parts: readonly (Closable | readonly Closable[])[]): Promise<void> {
  const failures: unknown[] = []
  for (const part of parts) {
    const closing = [part].flat().map(async (one) => one.close())
    for (const one of await Promise.allSettled(closing))
      if (one.status === 'rejected') failures.push(one.reason)
  }
  if (failures.length > 0) throw failures[0]
}

const closing = new Set<string>()

/** With a name for people, for as long as it is being closed. */
export function part(name: string, one: Closable): Closable {
  const close = async () => {
    closing.add(name)
    await one.close().finally(() => closing.delete(name))
  }
  return { close }
}

/** What of this process is being closed now. */
export function closingParts(): readonly string[] {
  return [...closing]
}
