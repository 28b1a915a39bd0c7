import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Metadata, Server, ServerCredentials, type sendUnaryData } from '@grpc/grpc-js'
import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js'
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type streams from '@eventstore/db-client/generated/streams_pb.js'
import type { TestCertificate } from '../network/certificate.ts'
import {
  answerAppend,
  answerBatchAppend,
  type AnswerAppend,
  type AppendCall,
  type BatchAppendCall,
  type Decide,
} from './append.ts'
import { accessDenied, cutOffInTransition, notLeader, unauthenticated, type Failure } from './failures.ts'
import { Line } from './line.ts'
import { problemOf, type AppendOutcome, type ProposedAppend } from './append-rules.ts'
import { Log } from './log.ts'
import { confirmationAnswer, featuresAnswer, gossipAnswer } from './messages.ts'
import { answerRead, answerSubscription, refusalOf, subscriptionStart, type ReadCall } from './read.ts'
import { isUser, rightToRead, type User } from './rights.ts'

type AnswerGossip = sendUnaryData<ClusterInfo>
type AnswerFeatures = sendUnaryData<SupportedMethods>

/** Faults that one append can meet. */
export type AppendFault =
  /** The connection breaks after the events were written and before the answer. */
  | { readonly fault: 'answer lost' }
  /** The events are written, and the answer is delayed, perhaps for ever. */
  | { readonly fault: 'answer late'; readonly until: Promise<void> }
  /** The events are written, and the answer does not say where. */
  | { readonly fault: 'position left out' }
  /** The append ends with this status. */
  | {
      readonly fault: 'refused'
      readonly code: number
      readonly details: string
      readonly metadata?: Metadata
      readonly written: boolean
    }
  /** This append is answered so and writes nothing; others of the same call continue. */
  | { readonly fault: 'not taken'; readonly type: string; readonly code?: number; readonly message: string }
  /** The server has forgotten that the append was repeated: it says that the stream is elsewhere. */
  | { readonly fault: 'called a conflict' }

/** Speaks EventStoreDB 23.10's protocol over real gRPC, keeps the log in memory, and fails when told to. */
export class EventStoreDbPeer {
  readonly log: Log
  readonly line: Line
  readonly #server: Server
  readonly #certificate: TestCertificate | undefined
  readonly #subscriptions = new Set<ReadCall>()
  readonly #happened = new EventEmitter()
  readonly #faults: AppendFault[] = []
  #cutOffsInTransition = 0
  #isHeldBack = false
  readonly #batchAppends = new Set<BatchAppendCall>()
  #leaderPort: number | undefined
  #failure: Failure | undefined
  #user: User | undefined
  /** Calls refused because this node was not ready or another one leads. */
  callsRefused = 0
  /** Reads received and carried out, subscriptions included. */
  reads = 0
  /** Appends received, including unanswered ones. */
  appends = 0
  /** The positions after which subscriptions were started. */
  readonly subscribedAfter: number[] = []
  /** The checkpoints sent to subscriptions. */
  readonly checkpoints: number[] = []
  /** Number of events sent to subscriptions. */
  eventsSent = 0

  private constructor(server: Server, { port, log, certificate }: PeerParts) {
    this.#server = server
    this.#certificate = certificate
    this.log = log
    this.line = new Line(port)
  }

  /** Nodes of one cluster share a log. */
  static async start(log = new Log(), certificate?: TestCertificate): Promise<EventStoreDbPeer> {
    const server = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 })
    const port = await new Promise<number>((resolve, reject) => {
      const bound = (error: Error | null, port: number) => (error ? reject(error) : resolve(port))
      server.bindAsync('127.0.0.1:0', credentialsOf(certificate), bound)
    })
    const peer = new EventStoreDbPeer(server, { port, log, certificate })
    const decide = (append: ProposedAppend) => peer.#decide(append)
    server.addService(StreamsService, {
      append: (call: AppendCall, answer: AnswerAppend) => {
        if (peer.#mayCarryOut(call)) answerAppend(call, answer, decide)
      },
      batchAppend: (call: BatchAppendCall) => {
        if (peer.#mayCarryOut(call)) peer.#appendOver(call, decide)
      },
      read: (call: ReadCall) => {
        if (peer.#mayCarryOut(call)) void peer.#read(call)
      },
    })
    server.addService(GossipService, {
      read: (_: unknown, answer: AnswerGossip) => answer(null, gossipAnswer(peer.line.port)),
    })
    server.addService(ServerFeaturesService, {
      getSupportedMethods: (_: unknown, answer: AnswerFeatures) => answer(null, featuresAnswer()),
    })
    peer.writeSystemEvents(3)
    await peer.line.open()
    return peer
  }

  get url(): string {
    return `esdb://127.0.0.1:${this.line.port}?tls=false`
  }

  /** As somebody whom it asks for a password. */
  urlOf(user: string, password: string): string {
    const authority = encodeURIComponent(this.#certificate!.certificateFile)
    return `esdb://${user}:${password}@localhost:${this.line.port}?tlsCaFile=${authority}`
  }

  /** Another node, on this port, leads from now on: calls that require a leader end and are redirected. */
  isLedBy(port: number): void {
    this.#leaderPort = port
    for (const call of [...this.#batchAppends, ...this.#subscriptions]) call.emit('error', notLeader(port))
  }

  /** The node leads again, or is ready again. */
  recover(): void {
    this.#leaderPort = undefined
    this.#failure = undefined
  }

  /** Every call ends like this, until `recover`. */
  failCalls(failure: Failure): void {
    this.#failure = failure
    for (const call of [...this.#batchAppends, ...this.#subscriptions]) call.emit('error', failure)
  }

  /** Lets in nobody else; without it everybody may do everything, as on a server that runs insecure. */
  letInOnly(user: User): void {
    this.#user = user
  }

  /** The next append without a fault of its own meets this one. */
  failNextAppend(fault: AppendFault): void {
    this.#faults.push(fault)
  }

  /** The server ends the subscriptions as if there were nothing more to say. */
  endSubscriptions(): void {
    for (const call of this.#subscriptions) call.end()
  }

  failSubscriptions(code: number, details: string): void {
    for (const call of this.#subscriptions) call.emit('error', { code, details, metadata: new Metadata() })
  }

  /** So many of the next subscriptions end where they would become live, before anything new was sent. */
  cutOffInTransition(count: number): void {
    this.#cutOffsInTransition = count
  }

  /** Subscriptions say nothing more until `false`: the server is slow to tell what is new. */
  holdBack(isHeldBack: boolean): void {
    this.#isHeldBack = isHeldBack
    this.log.tell()
  }

  /** Waits for something that appends and subscriptions bring about. */
  async until(condition: (peer: this) => boolean): Promise<void> {
    while (!condition(this)) await once(this.#happened, 'change')
  }

  /** What every server contains from the start, and its statistics: none of it is for applications. */
  writeSystemEvents(count: number): void {
    const stream = '$stats-127.0.0.1:2113'
    const [data, contentType] = [Buffer.from('{}'), 'application/json']
    for (let number = 0; number < count; number++) {
      const event = { id: randomUUID(), type: '$statsCollected', contentType, data, metadata: data }
      this.log.append(stream, (this.log.stream(stream)?.length ?? 0) - 1, [event])
    }
  }

  async stop(): Promise<void> {
    await this.line.close()
    this.#server.forceShutdown()
  }

  /** Ends a call that this node does not carry out. */
  #mayCarryOut(call: AppendCall | BatchAppendCall | ReadCall): boolean {
    const needsLeader = call.metadata.get('requires-leader').length > 0
    const leader = needsLeader ? this.#leaderPort : undefined
    const isStranger = this.#user && !isUser(this.#user, call.metadata)
    const failure =
      (isStranger ? unauthenticated : this.#failure) ?? (leader === undefined ? undefined : notLeader(leader))
    if (failure) {
      this.callsRefused += 1
      call.emit('error', failure)
    }
    return !failure
  }

  #appendOver(call: BatchAppendCall, decide: Decide): void {
    this.#batchAppends.add(call)
    for (const event of ['cancelled', 'close', 'finish'])
      call.on(event, () => this.#batchAppends.delete(call))
    answerBatchAppend(call, decide)
  }

  async #decide({ stream, expected, deadline, events }: ProposedAppend): Promise<AppendOutcome> {
    const problem = problemOf({ stream, expected, deadline, events }, this.log.now())
    const fault = this.#faults.shift()
    this.appends += 1
    this.#happened.emit('change')
    if (this.#user?.lacks.includes('write'))
      return { outcome: 'failed', type: 'AccessDenied', message: 'Access Denied' }
    if (fault?.fault === 'refused' && !fault.written) throw fault
    if (fault?.fault === 'not taken') return { ...fault, outcome: 'failed' }
    const outcome = problem ?? this.log.append(stream, expected, events)
    if (fault?.fault === 'refused') throw fault
    if (fault?.fault === 'answer lost') this.line.cut()
    if (fault?.fault === 'answer late') await fault.until
    return distorted(outcome, fault)
  }

  async #read(call: ReadCall): Promise<void> {
    const options = call.request.getOptions()
    if (this.#user?.lacks.includes(rightToRead(options))) return void call.emit('error', accessDenied)
    const refusal = refusalOf(call, this.log)
    if (refusal) return void call.emit('error', refusal)
    this.reads += 1
    if (!options?.hasSubscription()) return answerRead(call, this.log)
    this.#subscriptions.add(call)
    this.subscribedAfter.push(subscriptionStart(call, this.log))
    this.#happened.emit('change')
    if (this.#cutOffsInTransition > 0) {
      this.#cutOffsInTransition--
      call.write(confirmationAnswer(randomUUID()))
      call.emit('error', cutOffInTransition)
    } else {
      const isHeldBack = () => this.#isHeldBack
      await answerSubscription(call, this.log, { onSent: (message) => this.#note(message), isHeldBack })
    }
    this.#subscriptions.delete(call)
  }

  #note(sent: streams.ReadResp): void {
    const checkpoint = sent.getCheckpoint()
    if (checkpoint) this.checkpoints.push(Number(checkpoint.getCommitPosition()))
    if (sent.hasEvent()) this.eventsSent += 1
    this.#happened.emit('change')
  }
}

interface PeerParts {
  readonly port: number
  readonly log: Log
  readonly certificate: TestCertificate | undefined
}

function credentialsOf(certificate: TestCertificate | undefined): ServerCredentials {
  if (!certificate) return ServerCredentials.createInsecure()
  const { certificateFile, keyStoreFile } = certificate
  const pair = { cert_chain: readFileSync(certificateFile), private_key: readFileSync(keyStoreFile) }
  return ServerCredentials.createSsl(null, [pair])
}

function distorted(outcome: AppendOutcome, fault: AppendFault | undefined): AppendOutcome {
  if (outcome.outcome !== 'written') return outcome
  if (fault?.fault === 'position left out') return { ...outcome, position: -1 }
  if (fault?.fault !== 'called a conflict') return outcome
  return { outcome: 'wrong expected version', current: outcome.revision }
}
