import type { CSSProperties, ReactElement } from 'react'

export interface WaymarkError {
  /** Of HTTP; 0: the server cannot be reached. */
  readonly status: number
  readonly code: string | null
  readonly message: string | null
}

export interface WaymarkProps {
  /** Where Waymark is, as `https://analytics.example.com`; it loads the elements from there, unless the page has them already. */
  readonly server?: string
  /** Of `project.viewerToken()`. */
  readonly token?: string
  /** Answers a token, at first and when one has ended. */
  readonly tokenProvider?: () => Promise<string>
  readonly dateFrom?: string
  readonly dateTo?: string
  readonly interval?: 'hour' | 'day' | 'week' | 'month'
  /** Asks again after so many seconds. */
  readonly refresh?: number
  readonly heading?: 'none'
  readonly theme?: 'light' | 'dark' | 'auto'
  readonly className?: string
  readonly style?: CSSProperties
  readonly id?: string
  readonly onLoad?: (answer: unknown) => void
  readonly onError?: (error: WaymarkError) => void
}
export interface WaymarkChartProps extends WaymarkProps {
  readonly insight?: number
  /** In place of an insight: a query of a kind that the token names. */
  readonly query?: object
  readonly height?: number
}
export interface WaymarkDashboardProps extends WaymarkProps {
  readonly dashboard: number
}

export declare const WaymarkChart: (props: WaymarkChartProps) => ReactElement
export declare const WaymarkDashboard: (props: WaymarkDashboardProps) => ReactElement
