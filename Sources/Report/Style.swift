/// The only style sheet: light and dark, for phones and large screens.
let styleSheet = """
  :root {
    color-scheme: light dark;
    --paper: #f7f5f0; --card: #ffffff; --ink: #1d1c1a; --soft: #5b5851; --line: #dcd8ce;
    --accent: #0a5a69; --band: #0a5a6922; --up: #a3290f; --down: #17663a;
    --wait: #134a76; --wait-back: #e1edf7; --fill: #6a4300; --fill-back: #fdebc8;
    --none: #4b4843; --none-back: #ebe8e1; --sea: #e4edf1;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --paper: #14161a; --card: #1c1f25; --ink: #eceae4; --soft: #aeaba3; --line: #363a42;
      --accent: #74cbd9; --band: #74cbd92b; --up: #ff9f88; --down: #80d69d;
      --wait: #aed6f6; --wait-back: #1b3448; --fill: #ffdb8f; --fill-back: #43330d;
      --none: #cbc8c0; --none-back: #2b2e34; --sea: #16222a;
    }
  }
  * { box-sizing: border-box; }
  html { -webkit-text-size-adjust: 100%; }
  body {
    margin: 0; background: var(--paper); color: var(--ink);
    font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
    overflow-wrap: anywhere;
  }
  a { color: var(--accent); text-underline-offset: 2px; }
  a:focus-visible, [tabindex]:focus-visible, summary:focus-visible {
    outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px;
  }
  .skip { position: absolute; left: -999px; }
  .unseen { position: absolute; left: -9999px; }
  .skip:focus { left: 8px; top: 8px; background: var(--card); padding: 8px; }
  header.site, main, footer { max-width: 1120px; margin: 0 auto; padding: 0 20px; }
  header.site {
    display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 20px; padding-top: 18px;
    padding-bottom: 12px; border-bottom: 1px solid var(--line);
  }
  header.site .mark { font-weight: 700; font-size: 1.15rem; text-decoration: none; color: var(--ink); }
  header.site ul { display: flex; flex-wrap: wrap; gap: 4px 16px; list-style: none; margin: 0; padding: 0; }
  .search { flex: 1 1 16em; display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 8px; position: relative; }
  .search[hidden] { display: none; }
  .search label { color: var(--soft); font-size: 0.85rem; }
  .search input {
    flex: 1 1 9em; min-width: 0; font: inherit; color: inherit; background: var(--card);
    border: 1px solid var(--soft); border-radius: 8px; padding: 3px 8px;
  }
  .search input:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
  header.site .search ul {
    position: absolute; z-index: 1; top: 100%; left: 0; right: 0; display: block; margin-top: 4px;
    background: var(--card); border: 1px solid var(--line); border-radius: 8px; box-shadow: 0 6px 20px #0003;
  }
  header.site .search ul:empty { display: none; }
  .search li { padding: 6px 12px; border-bottom: 1px solid var(--line); }
  .search li:last-child { border-bottom: 0; }
  main { padding-top: 6px; padding-bottom: 32px; }
  h1 { font-size: 1.7rem; line-height: 1.2; margin: 8px 0 4px; letter-spacing: -0.01em; }
  h2 { font-size: 1.2rem; margin: 36px 0 10px; }
  .panel h2 { margin-top: 22px; }
  .card h2, .panel h2 { font-size: 1.05rem; margin-bottom: 4px; }
  .card h2, .panel > :first-child { margin-top: 0; }
  .lead, .note, .empty { color: var(--soft); margin: 0 0 8px; }
  .note, .empty { font-size: 0.9rem; }
  :is(.panel, .cards, .beside, .note) + :is(.note, .panel) { margin-top: 12px; }
  .cards { display: grid; gap: 14px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 250px), 1fr)); }
  .card, .panel {
    background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px;
  }
  .card { display: flex; flex-direction: column; gap: 6px; }
  .card h2 a { color: inherit; text-decoration: none; }
  .card h2 a:hover { text-decoration: underline; }
  .price { margin: 4px 0 0; font-variant-numeric: tabular-nums; }
  .price b { font-size: 1.75rem; font-weight: 650; line-height: 1.1; }
  .unit { color: var(--soft); font-size: 0.85rem; }
  .beside { display: grid; gap: 14px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); align-items: start; }
  .map { max-width: 520px; margin: 0 auto; background: var(--sea); border-radius: 8px; }
  .map .land { fill: var(--card); stroke: var(--line); }
  .map .lake { fill: var(--sea); stroke: var(--line); stroke-width: 0.5; }
  .map .border { fill: none; stroke: var(--soft); stroke-width: 0.7; stroke-dasharray: 3 3; }
  .map .dots { fill: none; stroke: var(--soft); stroke-width: 5; stroke-linecap: round; }
  .map .bar { fill: none; stroke: var(--ink); }
  .map text { font: 600 11.5px system-ui, sans-serif; fill: var(--ink); text-anchor: middle; font-variant-numeric: tabular-nums; }
  .map .name { font: 11px system-ui, sans-serif; fill: var(--soft); pointer-events: none; }
  .map rect { fill: var(--card); stroke: var(--soft); }
  .map .cheap rect { fill: var(--down); stroke: var(--down); } .map .cheap text { fill: var(--card); }
  .map .dear rect { stroke: var(--up); stroke-width: 2; }
  .map a:focus-visible rect { stroke: var(--accent); stroke-width: 4; }
  .key { display: inline-block; width: 22px; height: 12px; border-radius: 6px; vertical-align: -1px; margin-right: 6px; }
  .key.cheap { background: var(--down); } .key.dear { border: 2px solid var(--up); border-radius: 2px; }
  .states .falling, .states .near_low { fill: var(--down); } .states .rising, .states .near_high { fill: var(--up); }
  .states .shock { fill: var(--ink); } .states .quiet { fill: var(--soft); }
  .up { color: var(--up); } .down { color: var(--down); } .same { color: var(--soft); }
  .verdict { margin: 0; color: inherit; background: none; }
  .verdict b { display: inline-block; border-radius: 8px; padding: 0 10px; margin-left: -2px; font-size: 1.5rem; line-height: 1.4; font-weight: 700; }
  .wait b { color: var(--wait); background: var(--wait-back); }
  .fill b { color: var(--fill); background: var(--fill-back); }
  .none b { color: var(--none); background: var(--none-back); }
  .reason { margin: 0; }
  .score { margin: auto 0 0; font-size: 0.82rem; color: var(--soft); }
  svg { display: block; width: 100%; height: auto; }
  .line { fill: none; stroke: var(--accent); stroke-width: 2.2; stroke-linejoin: round; stroke-linecap: round; }
  .moving { fill: none; stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 4 4; }
  .band { fill: var(--band); }
  .dot, .point { fill: var(--accent); }
  .grid { stroke: var(--line); stroke-width: 1; }
  .axis { fill: var(--soft); font: 12px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
  .last { fill: var(--ink); font: 600 13px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
  .chart { touch-action: pan-y; } .narrow { display: none; }
  @media (max-width: 700px) {
    .wide { display: none; } .narrow { display: block; }
  }
  .scroll { overflow-x: auto; }
  @media (max-width: 560px) {
    header.site, main, footer { padding-left: 12px; padding-right: 12px; }
    .panel { padding-left: 10px; padding-right: 10px; }
    /* What a phone has no room for. */
    [aria-label="Averages now"] tr > :nth-child(4), [aria-label="Daily averages"] tr > :nth-child(3),
    [aria-label="Feeds"] tr > :nth-child(n + 4), [aria-label="Scores"] tr > :is(:nth-child(4), :nth-child(n + 6)) { display: none; }
    th, td { font-size: 0.9rem; padding-right: 6px !important; }
    tbody th { width: 48%; }
  }
  table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 0.93rem; }
  th, td { text-align: left; padding: 6px 10px 6px 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: break-word; }
  th { font-weight: 600; } thead th { color: var(--soft); font-size: 0.82rem; vertical-align: bottom; }
  td.number, th.number { text-align: right; padding-left: 4px; } td.number { white-space: nowrap; }
  td.number + td:not(.number), th.number + th:not(.number) { padding-left: 12px; }
  th .unit { font-weight: 400; }
  tbody tr:last-child > * { border-bottom: 0; }
  .chips { display: flex; flex-wrap: wrap; gap: 8px; list-style: none; padding: 0; margin: 10px 0; }
  .chips a {
    display: inline-block; border: 1px solid var(--line); border-radius: 999px; padding: 3px 12px;
    text-decoration: none; background: var(--card);
  }
  .fuels { display: flex; flex-wrap: wrap; gap: 4px; list-style: none; padding: 0; margin: 6px 0 10px; font-size: 0.88rem; }
  .fuels a, .fuels b {
    display: block; min-width: 36px; padding: 5px 4px; text-align: center; border: 1px solid var(--line); border-radius: 8px;
    text-decoration: none; background: var(--card); font-weight: 600;
  }
  .fuels b { background: var(--accent); border-color: var(--accent); color: var(--card); }
  button { font: inherit; color: var(--accent); background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 5px 10px; cursor: pointer; }
  .age { margin: 0; color: var(--soft); font-size: 0.85rem; }
  .legend { display: flex; flex-wrap: wrap; gap: 2px 18px; font-size: 0.82rem; color: var(--soft); margin: 4px 0 0; padding: 0; list-style: none; }
  .legend svg { display: inline-block; width: 26px; height: 10px; vertical-align: middle; margin-right: 6px; }
  details { margin-top: 8px; } summary { cursor: pointer; color: var(--soft); font-size: 0.9rem; }
  footer { padding-top: 16px; padding-bottom: 40px; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.85rem; }
  footer ul { padding-left: 18px; margin: 6px 0; }
  .ok { color: var(--down); font-weight: 600; } .bad { color: var(--up); font-weight: 600; }

  """
