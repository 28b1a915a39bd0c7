import { serve } from '../composition/serve.ts'
import { runProjector } from './service.ts'

await serve('projector', async (runtime) => runProjector(runtime))
