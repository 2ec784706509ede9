// Spans of OpenTelemetry, when the optional package `@opentelemetry/api` is installed. It does nothing by itself: the application, or a file that is loaded before
// `waymark serve`, registers an SDK. Without the package nothing is measured. Attributes never hold values of events, persons or queries.

type Attributes = Readonly<Record<string, string | number | boolean>>

interface Span {
  setAttributes(attributes: Attributes): unknown
  setStatus(status: { readonly code: number }): unknown
  end(): void
}
interface Tracer {
  startActiveSpan<T>(name: string, options: { readonly attributes: Attributes }, work: (span: Span) => T): T
}

/** `SpanStatusCode.ERROR` */
const failed = 2

let tracer: Tracer | null = null
let loading: Promise<void> | null = null

/** Looks for the package, once. */
export const loadTracing = (): Promise<void> => {
  loading ??= (async () => {
    const name = '@opentelemetry/api' // not an import that a bundler should look for
    const api = (await import(name).catch(() => null)) as { readonly trace?: { getTracer(name: string): Tracer } } | null
    tracer = api?.trace?.getTracer('waymark') ?? null
  })()
  return loading
}

type Note = (attributes: Attributes) => void
const noNote: Note = () => undefined

const codeOf = (error: unknown): string => {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : error instanceof Error ? error.name : 'unknown'
}

/** Runs work as a span. `note`: adds what is known at its end. */
export function traced<T>(name: string, attributes: Attributes, work: (note: Note) => Promise<T>): Promise<T> {
  if (tracer === null) return work(noNote)
  return tracer.startActiveSpan(`waymark.${name}`, { attributes }, async (span) => {
    try {
      return await work((more) => void span.setAttributes(more))
    } catch (error) {
      span.setAttributes({ 'error.type': codeOf(error) })
      span.setStatus({ code: failed })
      throw error
    } finally {
      span.end()
    }
  })
}
