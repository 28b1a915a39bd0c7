import { deciders } from '../../packages/domain/index.ts'

/** Which streams of a shared event store belong to this service. */
export const ownStreams = {
  categories: deciders.map(({ category }) => category),
  /** Checking each one's metadata would cost more than it could find. */
  shortLived: deciders.filter(({ perOperation }) => perOperation).map(({ category }) => category),
}
