import { openEmbeddedStore } from '../../infra/event-store/embedded/store.ts'
import { eventStoreSuite } from '../support/event-store/event-store-suite.ts'
import { testDatabase } from '../support/postgres.ts'

eventStoreSuite('the event store on PostgreSQL', async (t) => openEmbeddedStore(await testDatabase(t)))
