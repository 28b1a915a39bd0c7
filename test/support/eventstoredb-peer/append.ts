import type { sendUnaryData, ServerDuplexStream, ServerReadableStream } from '@grpc/grpc-js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { invalid, streamDeleted } from './failures.ts'
import type { AppendOutcome, ProposedRecord, ProposedAppend } from './append-rules.ts'
import { appendAnswer, batchAnswer, proposedRecord, streamName } from './messages.ts'

/** Rejects with the status with which the call should end. */
export type Decide = (append: ProposedAppend) => Promise<AppendOutcome>
export type AppendCall = ServerReadableStream<streams.AppendReq, streams.AppendResp>
export type AnswerAppend = sendUnaryData<streams.AppendResp>
export type BatchAppendCall = ServerDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>

/** One append per call: first the options, then one message per event. */
export function answerAppend(call: AppendCall, answer: AnswerAppend, decide: Decide): void {
  let options: streams.AppendReq.Options | undefined
  const events: ProposedRecord[] = []
  call.on('error', () => undefined)
  call.on('data', (request: streams.AppendReq) => {
    const message = request.getProposedMessage()
    if (message) events.push(proposedRecord(message))
    else options = request.getOptions()
  })
  call.on('end', () => {
    if (!options || call.cancelled) return
    const known = options.hasNoStream() ? -1 : undefined
    const expected = options.hasRevision() ? Number(options.getRevision()) : known
    const stream = streamName(options.getStreamIdentifier())
    const append = { stream, expected, deadline: Infinity, events }
    const tell = (outcome: AppendOutcome) => {
      if (outcome.outcome === 'stream deleted') answer(streamDeleted(append.stream))
      else if (outcome.outcome === 'failed') answer(invalid(outcome.message))
      else answer(null, appendAnswer(outcome, expected ?? -1))
    }
    decide(append).then(tell, answer)
  })
}

/** Many appends on one call, answered in any order. An error ends the call, and with it all of them. */
export function answerBatchAppend(call: BatchAppendCall, decide: Decide): void {
  const begun = new Map<string, ProposedAppend>()
  call.on('error', () => undefined)
  call.on('data', (request: streams.BatchAppendReq) => {
    const correlation = request.getCorrelationId()
    const id = correlation?.getString() || (correlation?.getStructured()?.getLeastSignificantBits() ?? '')
    const append = extended(begun.get(id), request)
    begun.set(id, append)
    if (!request.getIsFinal()) return
    begun.delete(id)
    const tell = (outcome: AppendOutcome) => void call.write(batchAnswer(request, append, outcome))
    decide(append).then(tell, (error: unknown) => call.emit('error', error))
  })
  call.on('end', () => call.end())
}

function extended(begun: ProposedAppend | undefined, request: streams.BatchAppendReq): ProposedAppend {
  const options = request.getOptions()
  const events = [...(begun?.events ?? []), ...request.getProposedMessagesList().map(proposedRecord)]
  if (begun) return { ...begun, events }
  const known = options?.hasNoStream() ? -1 : undefined
  const expected = options?.hasStreamPosition() ? Number(options.getStreamPosition()) : known
  const deadline = options?.getDeadline()?.toDate().getTime() ?? Infinity
  return { stream: streamName(options?.getStreamIdentifier()), expected, deadline, events }
}
