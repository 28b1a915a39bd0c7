import { serve } from '../composition/serve.ts'
import { runProcesses } from './service.ts'

await serve('processes', async (runtime) => runProcesses(runtime))
