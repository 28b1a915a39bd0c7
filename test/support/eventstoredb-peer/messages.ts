import any from 'google-protobuf/google/protobuf/any_pb.js'
import empty from 'google-protobuf/google/protobuf/empty_pb.js'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import status from '@eventstore/db-client/generated/status_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { AppendOutcome, LogRecord, ProposedRecord, ProposedAppend } from './append-rules.ts'

/** The server's answers and requests as messages of the EventStoreDB protocol. */

export function streamName(identifier: shared.StreamIdentifier | undefined): string {
  return Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8')
}

type ProposedMessage = streams.AppendReq.ProposedMessage | streams.BatchAppendReq.ProposedMessage

export function proposedRecord(message: ProposedMessage): ProposedRecord {
  const metadata = message.getMetadataMap()
  return {
    id: (message.getId()?.getString() ?? '').toLowerCase(),
    type: metadata.get('type') ?? '',
    contentType: metadata.get('content-type') ?? '',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  }
}

export function appendAnswer(
  outcome: Exclude<AppendOutcome, { readonly outcome: 'stream deleted' | 'failed' }>,
  expected: number,
): streams.AppendResp {
  if (outcome.outcome === 'written') return new streams.AppendResp().setSuccess(success(outcome))
  const wrong = new streams.AppendResp.WrongExpectedVersion()
  if (expected === -1) wrong.setExpectedNoStream(new shared.Empty())
  else wrong.setExpectedRevision(String(expected))
  if (outcome.current === -1) wrong.setCurrentNoStream(new shared.Empty())
  else wrong.setCurrentRevision(String(outcome.current))
  return new streams.AppendResp().setWrongExpectedVersion(wrong)
}

interface Written {
  readonly revision: number
  readonly position: number
}

function success({ revision, position }: Written): streams.AppendResp.Success {
  const success = new streams.AppendResp.Success().setCurrentRevision(String(revision))
  if (position === -1) return success.setNoPosition(new shared.Empty())
  const at = new streams.AppendResp.Position()
  return success.setPosition(at.setCommitPosition(String(position)).setPreparePosition(String(position)))
}

export function batchAnswer(
  request: streams.BatchAppendReq,
  { stream, expected }: ProposedAppend,
  outcome: AppendOutcome,
): streams.BatchAppendResp {
  const answer = new streams.BatchAppendResp()
    .setCorrelationId(structured(request.getCorrelationId()))
    .setStreamIdentifier(identifierOf(stream))
  if (outcome.outcome === 'stream deleted') return answer.setError(deleted(stream))
  if (outcome.outcome === 'failed') return answer.setError(failed(outcome))
  if (outcome.outcome !== 'written') return answer.setError(conflict(outcome.current, expected ?? -1))
  const success = new streams.BatchAppendResp.Success().setCurrentRevision(String(outcome.revision))
  if (outcome.position === -1) return answer.setSuccess(success.setNoPosition(new empty.Empty()))
  const position = String(outcome.position)
  const at = new shared.AllStreamPosition().setCommitPosition(position).setPreparePosition(position)
  return answer.setSuccess(success.setPosition(at))
}

/** However a UUID was written, the server returns it as two numbers. */
function structured(uuid: shared.UUID | undefined): shared.UUID {
  const bytes = Buffer.from((uuid?.getString() ?? '').replaceAll('-', ''), 'hex')
  if (uuid?.hasStructured() || bytes.length !== 16) return uuid ?? new shared.UUID()
  const [most, least] = [bytes.readBigInt64BE(0), bytes.readBigInt64BE(8)]
  const numbers = new shared.UUID.Structured()
  numbers.setMostSignificantBits(String(most)).setLeastSignificantBits(String(least))
  return new shared.UUID().setStructured(numbers)
}

interface Failed {
  /** Empty for details of no known type. */
  readonly type: string
  readonly code?: number
  readonly message: string
}

function failed({ type, code = 2, message }: Failed): status.Status {
  const answer = new status.Status().setCode(code).setMessage(message)
  if (type === '') return answer
  const details = new any.Any()
  details.pack(new Uint8Array(0), `event_store.client.${type}`)
  return answer.setDetails(details)
}

function deleted(stream: string): status.Status {
  const message = new shared.StreamDeleted().setStreamIdentifier(identifierOf(stream))
  const details = new any.Any()
  details.pack(message.serializeBinary(), 'event_store.client.StreamDeleted')
  return new status.Status().setDetails(details)
}

function conflict(current: number, expected: number): status.Status {
  const wrong = new shared.WrongExpectedVersion()
  if (expected === -1) wrong.setExpectedNoStream(new empty.Empty())
  else wrong.setExpectedStreamPosition(String(expected))
  if (current === -1) wrong.setCurrentNoStream(new empty.Empty())
  else wrong.setCurrentStreamRevision(String(current))
  const details = new any.Any()
  details.pack(wrong.serializeBinary(), 'event_store.client.WrongExpectedVersion')
  return new status.Status().setDetails(details)
}

export function featuresAnswer(): features.SupportedMethods {
  const answer = new features.SupportedMethods().setEventStoreServerVersion('23.10.6')
  for (const method of ['Append', 'BatchAppend', 'Read']) {
    const supported = new features.SupportedMethod().setServiceName('event_store.client.streams.Streams')
    answer.addMethods(supported.setMethodName(method))
  }
  return answer
}

/** A cluster of one node, which leads it. */
export function gossipAnswer(port: number): gossip.ClusterInfo {
  const member = new gossip.MemberInfo()
    .setInstanceId(new shared.UUID().setString('00000000-0000-4000-8000-000000000001'))
    .setTimeStamp('0')
    .setState(gossip.MemberInfo.VNodeState.LEADER)
    .setIsAlive(true)
    .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(port))
  return new gossip.ClusterInfo().setMembersList([member])
}

function identifierOf(stream: string): shared.StreamIdentifier {
  return new shared.StreamIdentifier().setStreamName(Buffer.from(stream))
}

export function eventAnswer(record: LogRecord): streams.ReadResp {
  const position = String(record.position)
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(record.id))
    .setStreamIdentifier(identifierOf(record.stream))
    .setStreamRevision(revisionOf(record))
    .setCommitPosition(position)
    .setPreparePosition(position)
    .setData(record.data)
    .setCustomMetadata(record.metadata)
  const metadata = recorded.getMetadataMap().set('type', record.type).set('content-type', record.contentType)
  metadata.set('created', '638000000000000000')
  const event = new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(position)
  return new streams.ReadResp().setEvent(event)
}

/** A tombstone's revision is the greatest 64-bit number, which JavaScript cannot represent. */
function revisionOf({ revision }: LogRecord): string {
  return Number.isSafeInteger(revision) ? String(revision) : '9223372036854775807'
}

export function notFoundAnswer(stream: string): streams.ReadResp {
  const notFound = new streams.ReadResp.StreamNotFound().setStreamIdentifier(identifierOf(stream))
  return new streams.ReadResp().setStreamNotFound(notFound)
}

export function confirmationAnswer(id: string): streams.ReadResp {
  const confirmation = new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(id)
  return new streams.ReadResp().setConfirmation(confirmation)
}

export function checkpointAnswer(position: number): streams.ReadResp {
  const checkpoint = new streams.ReadResp.Checkpoint()
  checkpoint.setCommitPosition(String(position)).setPreparePosition(String(position))
  return new streams.ReadResp().setCheckpoint(checkpoint)
}

export function caughtUpAnswer(): streams.ReadResp {
  return new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp())
}

/** Whether the filter of a request matches a record. */
export function filterOf(options: streams.ReadReq.Options): (record: LogRecord) => boolean {
  const filter = options.getFilter()
  if (!filter) return () => true
  const onType = filter.hasEventType()
  const expression = onType ? filter.getEventType() : filter.getStreamIdentifier()
  const regex = expression?.getRegex() ? new RegExp(expression.getRegex()) : undefined
  const prefixes = expression?.getPrefixList() ?? []
  return ({ type, stream }) => {
    const text = onType ? type : stream
    return regex ? regex.test(text) : prefixes.some((prefix) => text.startsWith(prefix))
  }
}
