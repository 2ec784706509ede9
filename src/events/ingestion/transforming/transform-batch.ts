import type { TextWriter } from '../../../lib/text/text-writer.ts'
import { Texts } from '../../../lib/text/texts.ts'
import { type AnyReceipt, readPayload, receiptsOf, writtenTexts } from '../decoding/decode-batch.ts'
import { isoText } from '../decoding/parse-time.ts'
import { droppedText, type PreparedEvent, prepareEvent } from '../decoding/prepare.ts'
import type { Content, Work } from '../work.ts'
import { type BatchFacts, type EventForPlugins, forPlugins, fromPlugins } from './plugin-event.ts'
import type { PluginEvent, Transformations } from './ports.ts'

export type EventWork = Work & { readonly content: Extract<Content, { kind: 'event' }> }

export const isEventWork = (work: Work): work is EventWork => work.content.kind === 'event'

/** What the log stores of the events of a batch. */
export function payloadsOf({ content: { events, bytes } }: EventWork): Texts {
  const offsets = new Int32Array(events.length + 1)
  for (const [i, event] of events.entries()) offsets[i + 1] = event.propertiesTo + 1
  return new Texts(bytes, offsets)
}

/** The events of a batch that pass through plugins. */
export interface Passing {
  readonly work: EventWork
  readonly facts: BatchFacts
  readonly payloads: Texts
  /** By index in the batch. */
  readonly events: ReadonlyMap<number, EventForPlugins>
}

export function passing(work: EventWork, projectId: number, siteUrl: string): Passing {
  const facts = { projectId, siteUrl, now: isoText(work.receivedAt), sentAt: work.sentAt }
  const payloads = payloadsOf(work)
  const events = new Map<number, EventForPlugins>()
  const { bytes } = work.content
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (const [i, event] of work.content.events.entries())
    if (!event.isDropped && !work.content.duplicates.has(i)) events.set(i, forPlugins(buffer, payloads.offsets[i]!, event, facts))
  return { work, facts, payloads, events }
}

export interface Transformed {
  readonly events: readonly PreparedEvent[]
  readonly payloads: Texts
}

const eventsOfLook = 8

/** Prepares the results of plugins like events that arrive. Yields regularly. */
export function* prepareTransformed(
  { work, facts, payloads, events: given }: Passing,
  resultOf: (index: number) => PluginEvent | null | undefined,
  transformations: Pick<Transformations, 'untouched' | 'report'>,
  writer: TextWriter,
): Generator<void, Transformed> {
  const { content, receivedAt, sentAt, isHistorical } = work
  const receipt: AnyReceipt = { receivedAt: receivedAt / 1000, isHistorical, ip: null, anonymizeIps: false, newUuid: () => '' }
  const [first, others] = receiptsOf(receipt, sentAt)
  const events: PreparedEvent[] = []
  const ends: number[] = []
  writer.clear()
  for (const [i, original] of content.events.entries()) {
    if (i % eventsOfLook === 0) yield
    const about = i === 0 ? first : others
    const sent = given.get(i)
    const result = sent && resultOf(i)
    if (sent && result) {
      const start = writer.length
      const mark = () => prepareResult(transformations.untouched(sent.json))
      const prepareResult = (value: PluginEvent) =>
        prepareEvent(
          fromPlugins(value, original.uuid, facts),
          { ...about, visitor: original.visitor, notedBefore: sent.noted },
          null,
          writer,
        )
      const [event, problem] = attempt(() => prepareResult(result))
      if (problem === null) events.push(event)
      else {
        transformations.report(`An event cannot be stored with the changes of the plugins, so it is stored unchanged: ${problem}`)
        writer.length = start
        const [marked, stillWrong] = attempt(mark)
        if (stillWrong !== null) writer.length = start
        events.push(stillWrong === null ? marked : readPayload(payloads.at(i), original.uuid, about, writer))
      }
    } else if (sent && result === undefined) events.push(readPayload(payloads.at(i), original.uuid, about, writer))
    else {
      writer.write(droppedText(original.name, original.distinctId, original.warnings))
      events.push({ ...original, isDropped: true, propertiesFrom: writer.length - 1, propertiesTo: writer.length - 1 })
    }
    ends.push(writer.length)
  }
  return { events, payloads: writtenTexts(ends, writer) }
}

/** The event, or what is wrong with it. */
function attempt(prepare: () => PreparedEvent): readonly [PreparedEvent, null] | readonly [null, string] {
  try {
    const event = prepare()
    const isTooLarge = event.warnings.some(({ type }) => type === 'message_size_too_large')
    return isTooLarge ? [null, 'it exceeds the size limit of an event.'] : [event, null]
  } catch (error) {
    return [null, error instanceof Error ? error.message : String(error)]
  }
}
