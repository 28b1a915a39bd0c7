/** What fails is tried again, and must not meet those who were still at work when it failed. */
export async function settleAll<Result>(works: readonly Promise<Result>[]): Promise<readonly Result[]> {
  await Promise.allSettled(works)
  return Promise.all(works)
}
