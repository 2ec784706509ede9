import { otherLimits } from '../../../limits/limits.ts'

// Counters in Prometheus' text format. Labels are route patterns, never values that a caller sent.

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Beyond them, requests are counted together. */
const mostSeries = otherLimits.metricSeries.number
const otherSeries = 'method="other",route="other",status="other"'

const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

interface Timing {
  readonly buckets: number[]
  sum: number
  count: number
}

export const createMetrics = () => {
  const requests = new Map<string, number>()
  const timings = new Map<string, Timing>()
  const refusals = new Map<string, number>()
  let inFlight = 0
  return {
    begin: () => {
      inFlight++
    },
    end: (sent: string, route: string, status: number, seconds: number) => {
      inFlight--
      const method = methods.has(sent) ? sent : 'other'
      const labels = `method="${method}",route="${route}",status="${status}"`
      const key = requests.has(labels) || requests.size < mostSeries ? labels : otherSeries
      requests.set(key, (requests.get(key) ?? 0) + 1)
      const label = timings.size < mostSeries || timings.has(`route="${route}"`) ? `route="${route}"` : 'route="other"'
      const timing = timings.get(label) ?? { buckets: bounds.map(() => 0), sum: 0, count: 0 }
      timings.set(label, timing)
      for (const [i, bound] of bounds.entries()) if (seconds <= bound) timing.buckets[i]!++
      timing.sum += seconds
      timing.count++
    },
    captureRefused: (code: string) => {
      refusals.set(code, (refusals.get(code) ?? 0) + 1)
    },
    text: (gauges: Readonly<Record<string, number>>): string => {
      const lines = ['# HELP waymark_http_requests_total Requests answered.', '# TYPE waymark_http_requests_total counter']
      for (const [labels, count] of requests) lines.push(`waymark_http_requests_total{${labels}} ${count}`)
      lines.push('# HELP waymark_http_request_seconds Time to answer.', '# TYPE waymark_http_request_seconds histogram')
      for (const [label, timing] of timings) {
        for (const [i, bound] of bounds.entries())
          lines.push(`waymark_http_request_seconds_bucket{${label},le="${bound}"} ${timing.buckets[i]}`)
        lines.push(`waymark_http_request_seconds_bucket{${label},le="+Inf"} ${timing.count}`)
        lines.push(
          `waymark_http_request_seconds_sum{${label}} ${timing.sum}`,
          `waymark_http_request_seconds_count{${label}} ${timing.count}`,
        )
      }
      lines.push(
        '# HELP waymark_capture_refused_total Requests with events that were refused.',
        '# TYPE waymark_capture_refused_total counter',
      )
      for (const [code, count] of refusals) lines.push(`waymark_capture_refused_total{code="${code}"} ${count}`)
      const all = { waymark_http_requests_in_flight: inFlight, ...gauges }
      for (const [name, value] of Object.entries(all)) lines.push(`# TYPE ${name} gauge`, `${name} ${value}`)
      return `${lines.join('\n')}\n`
    },
  }
}
export type Metrics = ReturnType<typeof createMetrics>
