import { work, type Role, type Work } from '../leaders.ts'
import type { Rule } from '../consumers.ts'
import type { SimulatedProcess } from '../process.ts'

/** Who leads in one role, and whoever led before and has not noticed yet that it is over. */
export class SimulatedLeader {
  readonly role: Role
  #epoch = 0
  #leader: SimulatedProcess | undefined
  #work: Work | undefined

  constructor(role: Role) {
    this.role = role
  }

  get leader(): SimulatedProcess | undefined {
    return this.#leader
  }

  /** From now on this process leads; the last one is told by its next fenced write. */
  elect(process: SimulatedProcess): void {
    const epoch = ++this.#epoch
    const { life } = process
    this.#leader = process
    this.#work = undefined
    let running: Work | undefined
    let isOver = false
    const stepDown = () => {
      isOver = true
      void running?.close()
    }
    const rule: Rule = { role: this.role, life, isLeading: () => this.#epoch === epoch, stepDown }
    work[this.role]({ process, rule }).then(
      (started) => {
        running = started
        if (isOver) void started.close()
        else if (this.#epoch === epoch) this.#work = started
      },
      () => this.#epoch === epoch && this.vacate(),
    )
  }

  /** The leader has died, or the start of its work has failed: the lock is free. */
  vacate(): void {
    this.#epoch++
    this.#leader = undefined
    this.#work = undefined
  }

  look(): boolean {
    return this.#work?.look?.() ?? false
  }
}
