import { serve } from '../composition/serve.ts'
import { runNotary } from './service.ts'

await serve('notary', async (runtime) => runNotary(runtime))
