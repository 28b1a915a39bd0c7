import { deciders } from '../../packages/domain/index.ts'

/** Which streams of an event store that others use too belong to this service. */
export const ownStreams = {
  categories: deciders.map(({ category }) => category),
  /** Looking at the metadata of each would cost more than it could find. */
  shortLived: deciders.filter(({ perOperation }) => perOperation).map(({ category }) => category),
}
