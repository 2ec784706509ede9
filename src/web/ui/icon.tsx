const shapes = {
  pen: 'M3 13l1-4 7-7 3 3-7 7-4 1zM9.5 3.5l3 3',
  copy: 'M5 5h8v8H5zM3 11V3h8',
  up: 'M8 13V3M4 7l4-4 4 4',
  cross: 'M4 4l8 8M12 4l-8 8',
} as const

/** Beside a label, or in a button that has one. */
export function Icon({ name }: { name: keyof typeof shapes }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={shapes[name]} />
    </svg>
  )
}
