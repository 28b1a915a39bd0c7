/** A failed start leaves nothing open: an embedded server would outlive it. */
export async function orClose<Result>(
  opened: { close(): Promise<void> },
  start: () => Promise<Result>,
): Promise<Result> {
  try {
    return await start()
  } catch (error) {
    await opened.close()
    throw error
  }
}
