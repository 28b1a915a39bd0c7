/** Waits for all before rejecting, so that a retry never overlaps with what is still running. */
export async function settleAll<Result>(works: readonly Promise<Result>[]): Promise<readonly Result[]> {
  await Promise.allSettled(works)
  return Promise.all(works)
}
