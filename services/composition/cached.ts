/** Concurrent callers share one read, whose result is reused for a while. Failures are not cached. */
export function cached<Value>(read: () => Promise<Value>, forMs: number): () => Promise<Value> {
  let known: Promise<Value> | undefined
  return () => {
    if (known) return known
    const reading = read()
    const forget = () => (known = undefined)
    reading.then(() => setTimeout(forget, forMs).unref(), forget)
    return (known = reading)
  }
}
