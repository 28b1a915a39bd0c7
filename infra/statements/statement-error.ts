/** What a file cannot be read for; each problem names its line. */
export class StatementError extends Error {
  override readonly name = 'StatementError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[], more = 0) {
    super([...problems, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n'))
    this.problems = problems
  }
}
