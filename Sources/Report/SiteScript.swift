/// The only script. It tells how old the prices are, remembers a place, looks for places by name and
/// by position, and tells the values of a chart. It is plain JavaScript, which runs unchanged from a
/// server or from a file, and asks nobody but the report itself.
let siteScript = """
  'use strict';
  (() => {
    const home = document.currentScript.dataset.home;
    const plain = text => text.normalize('NFKD').replace(/[\\u0300-\\u036f]/g, '').toLowerCase();
    const one = selector => document.querySelector(selector);
    const make = (tag, text, className = '') =>
      Object.assign(document.createElement(tag), { textContent: text, className });
    const link = (path, text) => Object.assign(make('a', text), { href: home + path });

    // How old the prices are, by the clock of the reader.
    const age = one('.age');
    const read = (window.bowserRead || {})[age.dataset.state] || (window.bowserRead || {})[''];
    if (read) {
      const minutes = Math.max(0, Math.round((Date.now() - new Date(read)) / 60000));
      const [count, unit] = minutes < 90 ? [minutes, 'minute'] : minutes < 2880
        ? [Math.round(minutes / 60), 'hour'] : [Math.round(minutes / 1440), 'day'];
      const clock = age.dataset.clock && `. ${age.dataset.clock}`;
      age.replaceChildren(`Prices read ${count} ${unit}${count === 1 ? '' : 's'} ago${clock}`);
      if (minutes > 1440) age.prepend(make('b', 'Old prices.', 'bad'), ' ');
    }

    // The place and fuel that the reader chose, in this browser only.
    const memory = {
      get() { try { return JSON.parse(localStorage.getItem('bowser')); } catch { return null; } },
      set(value) { try { localStorage.setItem('bowser', JSON.stringify(value)); } catch { } },
    };
    const mine = memory.get();
    const place = one('[data-place]');
    const cards = one('.cards');
    if (mine && /^[a-z0-9-]+\\/[a-z0-9-]+\\.html$/.test(mine.path)) {
      one('header.site nav ul').prepend(make('li', ''));
      one('header.site nav li').append(link(mine.path, mine.name));
      if (cards && home === '' && mine.fuel !== cards.dataset.fuel) {
        location.replace(mine.path.split('/')[0] + '/index.html');
      }
      const card = cards && [...cards.children].find(card => card.dataset.region === mine.region);
      if (card) cards.prepend(card);
    }
    if (place) {
      const isMine = mine && mine.path === place.dataset.place;
      const button = make('button', isMine ? 'Forget my place' : 'Remember as my place');
      button.addEventListener('click', () => {
        memory.set(isMine ? null : {
          path: place.dataset.place, region: place.dataset.region, name: place.dataset.name,
          fuel: place.dataset.name.split(' ').pop(),
        });
        location.reload();
      });
      place.append(button);
    }

    // Search for a place.
    const form = one('form.search');
    const input = one('#find');
    const list = one('#found');
    const most = 12;
    let places = null;
    form.hidden = false;
    const load = (path, done) => {
      const script = Object.assign(make('script', ''), { src: home + path, onload: done });
      script.onerror = () => tell('The list could not be loaded.');
      document.head.append(script);
    };
    const withPlaces = done => {
      if (places) { done(); return; }
      load('places.js', () => {
        places = window.bowserPlaces.map(([name, about, path]) => ({
          name, about, path, start: plain(name),
          words: plain(`${name} ${about} ${(path.match(/^station\\/(\\d+)/) || ['', ''])[1]}`).split(/[^a-z0-9]+/),
        }));
        done();
      });
    };
    const tell = text => list.replaceChildren(make('li', text));
    const item = (path, name, about) => {
      const row = make('li', '');
      row.append(link(path, name), make('span', ' ' + about, 'unit'));
      return row;
    };
    // The whole name first, then its beginning, then a whole word, then the beginning of one.
    const fit = (place, text, wanted) => !wanted.every(word => place.words.some(other => other.startsWith(word))) ? 9
      : place.start === text ? 0 : wanted.every(word => place.words.includes(word)) ? 1
      : place.start.startsWith(text) ? 2 : 3;
    const show = () => {
      const text = plain(input.value).trim();
      const wanted = text.split(/[^a-z0-9]+/).filter(word => word);
      if (!wanted.length) { list.replaceChildren(); return; }
      const found = places.map(place => [fit(place, text, wanted), place]).filter(pair => pair[0] < 9)
        .sort((one, other) => one[0] - other[0]);
      if (!found.length) { tell('No place has that name.'); return; }
      list.replaceChildren(...found.slice(0, most).map(([, place]) => item(place.path, place.name, place.about)));
      if (found.length > most) list.append(make('li', 'More places match: type more of the name.', 'unit'));
    };
    input.addEventListener('focus', () => withPlaces(() => {}));
    input.addEventListener('input', () => withPlaces(show));
    form.addEventListener('submit', event => {
      event.preventDefault();
      const first = list.querySelector('a');
      if (first) location.href = first.href;
    });
    form.addEventListener('keydown', event => {
      if (event.key === 'Escape') { input.value = ''; list.replaceChildren(); input.focus(); return; }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const links = [input, ...list.querySelectorAll('a')];
      const next = step && links[links.indexOf(document.activeElement) + step];
      if (next) { event.preventDefault(); next.focus(); }
    });

    // The cheapest within five kilometres, or of the ten nearest. The position stays in the browser.
    const fuel = (mine && mine.fuel) || 'U91';
    const shown = (cards && cards.dataset.fuel) || (place && place.dataset.name.split(' ').pop()) || fuel;
    one('#near').addEventListener('click', () => {
      if (!navigator.geolocation) { tell('This browser tells no position.'); return; }
      tell('Looking for your position…');
      navigator.geolocation.getCurrentPosition(({ coords }) => withPlaces(() =>
        load(`near/${shown.toLowerCase()}.js`, () => {
          const names = new Map(places.map(place => [place.path, place]));
          const squeeze = Math.cos(coords.latitude * Math.PI / 180);
          const all = window.bowserNear.map(([id, north, east, price, next]) => ({
            path: `station/${id}.html`, price, next,
            km: 111.2 * Math.hypot(north - coords.latitude, (east - coords.longitude) * squeeze),
          })).sort((one, other) => one.km - other.km);
          const near = all.filter((station, index) => index < 10 || station.km < 5)
            .sort((one, other) => one.price - other.price).slice(0, 10);
          list.replaceChildren(...near.map(({ path, price, next, km }) => item(
            path, `${price.toFixed(1)} ${(names.get(path) || { name: '' }).name}`,
            `${km.toFixed(1)} km${next ? `, next ${next.toFixed(1)}` : ''}`)));
          list.prepend(make('li', `${shown}, cheapest near you`, 'unit'));
        })), () => tell('Your position is not known.'), { maximumAge: 60000, timeout: 15000 });
    });

    // The value below the finger.
    for (const chart of document.querySelectorAll('svg.chart')) {
      const values = chart.dataset.values.split(' ');
      const box = chart.viewBox.baseVal;
      const [line, text] = ['line', 'text'].map(tag =>
        chart.appendChild(document.createElementNS('http://www.w3.org/2000/svg', tag)));
      line.setAttribute('class', 'grid');
      text.setAttribute('class', 'last');
      text.setAttribute('y', 10);
      const point = event => {
        const frame = chart.getBoundingClientRect();
        const step = (box.width - 94) / Math.max(1, values.length - 1);
        const at = Math.round(((event.clientX - frame.left) / frame.width * box.width - 40) / step);
        const index = Math.min(values.length - 1, Math.max(0, at));
        const x = 40 + index * step;
        const day = new Date(chart.dataset.from + 'T12:00:00');
        if (chart.dataset.step === 'day') day.setDate(day.getDate() + index);
        else day.setMonth(day.getMonth() + index);
        const when = chart.dataset.step === 'day' ? { day: 'numeric', month: 'short' } : { month: 'short', year: 'numeric' };
        text.textContent = `${day.toLocaleDateString('en-AU', when)}: ${values[index]}`;
        text.setAttribute('x', Math.min(x, box.width - 96));
        for (const [name, value] of [['x1', x], ['x2', x], ['y1', 12], ['y2', box.height - 26]]) line.setAttribute(name, value);
      };
      chart.addEventListener('pointerdown', point);
      chart.addEventListener('pointermove', point);
    }

    // A station's page to send.
    const send = one('#send');
    if (send && (navigator.share || navigator.clipboard)) {
      send.hidden = false;
      send.addEventListener('click', () => navigator.share
        ? navigator.share({ title: document.title, url: location.href }).catch(() => {})
        : navigator.clipboard.writeText(location.href).then(() => { send.textContent = 'Address copied'; }));
    }
  })();

  """
