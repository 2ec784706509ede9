import { otherLimits } from '../../../limits/limits.ts'
import { histogramOf, type Metric, metricText, type Timed } from './metric-text.ts'

// Counters of requests. Labels are route patterns, never values that a caller sent.

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Beyond them, requests are counted together. */
const mostSeries = otherLimits.metricSeries.number
const others = { method: 'other', route: 'other', status: 'other' } as const

const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

interface Counted {
  readonly labels: { readonly method: string; readonly route: string; readonly status: number | string }
  count: number
}
type Timing = Timed & { readonly buckets: number[]; seconds: number; count: number }

export const createMetrics = () => {
  const requests = new Map<string, Counted>()
  const timings = new Map<string, Timing>()
  const refusals = new Map<string, number>()
  let inFlight = 0
  const counted = (method: string, route: string, status: number): Counted => {
    const key = `${method} ${route} ${status}`
    const known = requests.get(key)
    if (known) return known
    const isMany = requests.size >= mostSeries
    const one = (isMany ? requests.get('') : undefined) ?? { labels: isMany ? others : { method, route, status }, count: 0 }
    requests.set(isMany ? '' : key, one)
    return one
  }
  const families = (): readonly Metric[] => [
    {
      name: 'waymark_http_requests_total',
      type: 'counter',
      help: 'Requests answered.',
      samples: [...requests.values()].map(({ labels, count }) => ({ labels, value: count })),
    },
    {
      name: 'waymark_http_request_seconds',
      type: 'histogram',
      help: 'Time to answer.',
      samples: [...timings].flatMap(([route, timing]) => histogramOf({ route }, timing)),
    },
    { name: 'waymark_http_requests_in_flight', type: 'gauge', help: 'Requests in progress.', samples: [{ value: inFlight }] },
    {
      name: 'waymark_capture_refused_total',
      type: 'counter',
      help: 'Requests with events that were refused, by the code of the error.',
      samples: [...refusals].map(([code, value]) => ({ labels: { code }, value })),
    },
  ]
  return {
    begin: () => {
      inFlight++
    },
    end: (sent: string, route: string, status: number, seconds: number) => {
      inFlight--
      counted(methods.has(sent) ? sent : 'other', route, status).count++
      const label = timings.size < mostSeries || timings.has(route) ? route : 'other'
      const timing = timings.get(label) ?? { bounds, buckets: bounds.map(() => 0), seconds: 0, count: 0 }
      timings.set(label, timing)
      for (const [i, bound] of bounds.entries()) if (seconds <= bound) timing.buckets[i]!++
      timing.seconds += seconds
      timing.count++
    },
    captureRefused: (code: string) => {
      refusals.set(code, (refusals.get(code) ?? 0) + 1)
    },
    text: (more: readonly Metric[]): string => `${[...families(), ...more].map(metricText).join('\n')}\n`,
  }
}
export type Metrics = ReturnType<typeof createMetrics>
