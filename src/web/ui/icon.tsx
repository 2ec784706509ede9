const shapes = {
  pen: 'M3 13l1-4 7-7 3 3-7 7-4 1zM9.5 3.5l3 3',
  copy: 'M5 5h8v8H5zM3 11V3h8',
  up: 'M8 13V3M4 7l4-4 4 4',
  cross: 'M4 4l8 8M12 4l-8 8',
  more: 'M3 8h.01M8 8h.01M13 8h.01',
  home: 'M2 7.5L8 2l6 5.5M3.5 6.5V14h9V6.5M6.5 14v-4h3v4',
  live: 'M1 8h3l2-5 4 10 2-5h3',
  insights: 'M2 2v12h12M5 10l3-4 2 2 4-5',
  dashboards: 'M2 2h5v6H2zM9 2h5v3H9zM9 8h5v6H9zM2 11h5v3H2z',
  alerts: 'M3.5 11.5c1-1 1-2.2 1-4.5a3.5 3.5 0 0 1 7 0c0 2.3 0 3.5 1 4.5zM6.5 13.5h3',
  sql: 'M2 3h12v10H2zM4.5 6l2 2-2 2M8.5 10h3',
  web: 'M8 1.8a6.2 6.2 0 1 0 0 12.4a6.2 6.2 0 1 0 0-12.4M1.8 8h12.4M8 1.8c-3.6 4-3.6 8.4 0 12.4M8 1.8c3.6 4 3.6 8.4 0 12.4',
  people: 'M8 8a3 3 0 1 0 0-6a3 3 0 1 0 0 6M2.5 14c.5-3 2.5-4.2 5.5-4.2s5 1.2 5.5 4.2',
  cohorts:
    'M6 7.5a2.7 2.7 0 1 0 0-5.4a2.7 2.7 0 1 0 0 5.4M1.5 13.5c.4-2.7 2-3.8 4.5-3.8s4.1 1.1 4.5 3.8M10.5 2.4a2.7 2.7 0 0 1 0 4.9M12 10c1.5.5 2.3 1.7 2.5 3.5',
  flags: 'M3.5 14.5V2M3.5 2.5h8l-2 3 2 3h-8',
  data: 'M2.5 3.5h11M2.5 8h7.5M2.5 12.5h9.5',
  import: 'M8 2v8M4.5 6.5L8 10l3.5-3.5M2.5 10.5V14h11v-3.5',
  bars: 'M3 13.5V8M8 13.5v-11M13 13.5V6',
  hash: 'M6 2.5l-1 11M11 2.5l-1 11M2.5 6h11M2.5 10h11',
  list: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  area: 'M2 13.5l3.5-6 3 3 2.5-5 3 3v5z',
  pie: 'M8 2a6 6 0 1 0 6 6H8z',
  search: 'M7 12a5 5 0 1 0 0-10a5 5 0 1 0 0 10M10.7 10.7l3.3 3.3',
  pipelines: 'M1.5 8h5l4-4h4M6.5 8l4 4h4M12.5 2l2 2-2 2M12.5 10l2 2-2 2',
  settings: 'M2 4h6M12 4h2M2 8h1M7 8h7M2 12h5M11 12h3M10 2.5v3M5 6.5v3M9 10.5v3',
  docs: 'M8 4c-1.5-1-3.5-1.5-6-1.5v10c2.5 0 4.5.5 6 1.5c1.5-1 3.5-1.5 6-1.5v-10c-2.5 0-4.5.5-6 1.5zM8 4v10',
  funnel: 'M2 2h12l-4.5 6v5.5l-3-1.5V8z',
  retention: 'M2 2h12v4H2zM2 6h8v4H2zM2 10h4v4H2z',
  stickiness: 'M2 14V3h3v11M6.5 14V7h3v7M11 14v-4h3v4',
  lifecycle: 'M13.5 6A6 6 0 0 0 3 4.5L2 6M2 2.5V6h3.5M2.5 10A6 6 0 0 0 13 11.5l1-1.5M14 13.5V10h-3.5',
} as const

export type IconName = keyof typeof shapes

/** Beside a label, or in a button that has one. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linejoin="round"
      stroke-linecap="round"
      aria-hidden="true"
    >
      <path d={shapes[name]} />
    </svg>
  )
}

/** The mark of Waymark: that of the favicon. */
export const Flag = () => (
  <svg width="20" height="20" viewBox="0 0 20 20" fill="none" aria-hidden="true">
    <path d="M5 18V3l9 3.6L5 10.4" stroke="currentColor" stroke-width="2" stroke-linejoin="round" stroke-linecap="round" />
  </svg>
)
