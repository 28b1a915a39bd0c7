import { serve } from '../composition/serve.ts'
import { runProcesses } from './runner/service.ts'

await serve('processes', async (runtime) => runProcesses(runtime))
