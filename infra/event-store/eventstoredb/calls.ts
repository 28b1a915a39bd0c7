import { convertToCommandError, type EventStoreDBClient } from '@eventstore/db-client'
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import type { ClientReadableStream } from '@grpc/grpc-js'
import { decodeAppendAnswer, encodeAppend, type AppendAnswer, type AppendRequest } from './messages/append.ts'
import { decodeReadAnswer, type ReadAnswer } from './messages/read.ts'

const path = '/event_store.client.streams.Streams'
/** Another node may lag behind the leader; reads that require the leader make the client turn to it. */
const requiresLeader = true

/** A call that goes on until one side ends it. */
export interface OpenCall {
  /** Resolves when the server ends it or it is cancelled here; rejects with its error. */
  readonly ended: Promise<void>
  cancel(): void
}

export interface AppendCall extends OpenCall {
  send(request: AppendRequest): void
}

type Grpc = InstanceType<typeof StreamsClient>

/**
 * Calls over the client's own channel, which the client opens, secures and moves to the leader of a cluster.
 * Messages are encoded and decoded here, because the client spends most of its time on that.
 */
export class Calls {
  readonly #client: EventStoreDBClient
  readonly #open = new Set<OpenCall>()

  constructor(client: EventStoreDBClient) {
    this.#client = client
  }

  /** Reads until the server has no more; a read that takes too long ends with an error. */
  async read(request: ReadReq, timeoutMs: number, onAnswer: (answer: ReadAnswer) => void): Promise<void> {
    const call = await this.beginRead(request, timeoutMs, onAnswer)
    await call.ended
  }

  /** The same for one that may be cancelled. */
  beginRead(request: ReadReq, timeoutMs: number, onAnswer: (answer: ReadAnswer) => void): Promise<OpenCall> {
    return this.#beginRead(request, { deadline: timeoutMs }, onAnswer)
  }

  /** Reads what there is and all that follows. */
  subscribe(request: ReadReq, onAnswer: (answer: ReadAnswer) => void): Promise<OpenCall> {
    return this.#beginRead(request, { deadline: Infinity }, onAnswer)
  }

  /** Any number of appends over one call, which the server answers in any order. */
  async openAppends(onAnswer: (answer: AppendAnswer) => void): Promise<AppendCall> {
    const grpc = await this.#grpc()
    const [metadata, options] = this.#client['callArguments']({ requiresLeader }, { deadline: Infinity })
    const stream = grpc.makeBidiStreamRequest<AppendRequest, AppendAnswer>(
      `${path}/BatchAppend`,
      encodeAppend,
      decodeAppendAnswer,
      metadata,
      options,
    )
    const call = this.#follow(grpc, stream, onAnswer)
    return { ...call, send: (request) => void stream.write(request) }
  }

  /** Ends calls in flight as if the server had ended them. */
  close(): void {
    for (const call of this.#open) call.cancel()
  }

  async #beginRead(
    request: ReadReq,
    { deadline }: { readonly deadline: number },
    onAnswer: (answer: ReadAnswer) => void,
  ): Promise<OpenCall> {
    const grpc = await this.#grpc()
    const given = deadline === Infinity ? { deadline } : {}
    const [metadata, options] = this.#client['callArguments']({ requiresLeader, deadline }, given)
    const serialize = (message: ReadReq) => Buffer.from(message.serializeBinary())
    const stream = grpc.makeServerStreamRequest(
      `${path}/Read`,
      serialize,
      decodeReadAnswer,
      request,
      metadata,
      options,
    )
    return this.#follow(grpc, stream, onAnswer)
  }

  #follow<Answer>(
    grpc: Grpc,
    stream: ClientReadableStream<Answer>,
    onAnswer: (answer: Answer) => void,
  ): OpenCall {
    let isCancelled = false
    const cancel = () => {
      isCancelled = true
      stream.cancel()
    }
    const ended = new Promise<void>((resolve, reject) => {
      stream.on('data', (answer: Answer) => {
        if (isCancelled) return
        try {
          onAnswer(answer)
        } catch (error) {
          cancel()
          reject(error as Error)
        }
      })
      stream.on('end', resolve)
      stream.on('error', (error) => {
        if (isCancelled) return resolve()
        void this.#client['handleError'](grpc, error)
        reject(convertToCommandError(error) as Error)
      })
    })
    const call = { ended, cancel }
    this.#open.add(call)
    ended.catch(() => undefined).finally(() => this.#open.delete(call))
    return call
  }

  /** Private in the client, and the only way to its channel and its knowledge of the cluster. */
  #grpc(): Promise<Grpc> {
    return this.#client['getGRPCClient'](StreamsClient, 'streams')
  }
}
