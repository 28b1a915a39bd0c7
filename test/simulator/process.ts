import type { Dependencies } from '../../packages/contract/routes.ts'
import { dependenciesOf } from './dependencies.ts'
import type { Life } from './scheduler.ts'
import type { Surroundings } from './surroundings.ts'

/** One process of the service: what it knows is in its memory and dies with it. */
export class SimulatedProcess {
  readonly name: string
  readonly world: Surroundings
  life: Life
  dependencies: Dependencies

  constructor(name: string, world: Surroundings) {
    this.name = name
    this.world = world
    this.life = { name, alive: true }
    this.dependencies = dependenciesOf(world, this.life)
  }

  /** Killed and started again. */
  crash(): void {
    this.life.alive = false
    this.life = { name: this.name, alive: true }
    this.dependencies = dependenciesOf(this.world, this.life)
  }
}
