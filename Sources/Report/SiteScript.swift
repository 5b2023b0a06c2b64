/// The only script. It searches for places in a list that is loaded on first use, and moves maps.
/// It is plain JavaScript, which runs unchanged from a server or from a file.
let siteScript = """
  'use strict';
  (() => {
    const home = document.currentScript.dataset.home;
    const plain = text => text.normalize('NFKD').replace(/[\\u0300-\\u036f]/g, '').toLowerCase();

    // Search for a place.
    const form = document.querySelector('form.search');
    const input = form.querySelector('input');
    const list = form.querySelector('ul');
    const most = 12;
    let places = null;
    let isLoading = false;
    form.hidden = false;

    const load = () => {
      if (places || isLoading) return;
      isLoading = true;
      const script = document.createElement('script');
      script.src = home + 'places.js';
      script.onload = () => {
        places = window.bowserPlaces.map(([name, about, path]) =>
          ({ name, about, path, words: plain(name + ' ' + about).split(/[^a-z0-9]+/) }));
        show();
      };
      script.onerror = () => { isLoading = false; tell('The list of places could not be loaded.'); };
      document.head.append(script);
    };
    const tell = text => {
      const item = document.createElement('li');
      item.textContent = text;
      list.replaceChildren(item);
    };
    const show = () => {
      const wanted = plain(input.value).split(/[^a-z0-9]+/).filter(word => word);
      if (!places || !wanted.length) { list.replaceChildren(); return; }
      const found = [];
      for (const place of places) {
        if (wanted.every(word => place.words.some(other => other.startsWith(word)))) found.push(place);
        if (found.length > most) break;
      }
      if (!found.length) { tell('No place has that name.'); return; }
      list.replaceChildren(...found.slice(0, most).map(place => {
        const item = document.createElement('li');
        const link = document.createElement('a');
        link.href = home + place.path;
        link.textContent = place.name;
        const about = document.createElement('span');
        about.className = 'unit';
        about.textContent = ' ' + place.about;
        item.append(link, about);
        return item;
      }));
      if (found.length > most) {
        const more = document.createElement('li');
        more.className = 'unit';
        more.textContent = 'More places match: type more of the name.';
        list.append(more);
      }
    };
    input.addEventListener('focus', load);
    input.addEventListener('input', () => { load(); show(); });
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

    // Moving and zooming of maps.
    for (const map of document.querySelectorAll('svg.map')) {
      const whole = map.viewBox.baseVal;
      const full = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
      let view = { ...full };
      const draw = () => {
        view.width = Math.min(full.width, Math.max(full.width / 200, view.width));
        view.height = view.width * full.height / full.width;
        view.x = Math.min(full.x + full.width - view.width, Math.max(full.x, view.x));
        view.y = Math.min(full.y + full.height - view.height, Math.max(full.y, view.y));
        map.setAttribute('viewBox', `${view.x} ${view.y} ${view.width} ${view.height}`);
        // Marks and names keep their size on the screen.
        map.style.setProperty('--shrink', view.width / full.width);
      };
      const zoom = (factor, x = view.x + view.width / 2, y = view.y + view.height / 2) => {
        const width = Math.min(full.width, Math.max(full.width / 200, view.width * factor));
        const share = width / view.width;
        view.x = x - (x - view.x) * share;
        view.y = y - (y - view.y) * share;
        view.width = width;
        draw();
      };
      const move = (x, y) => { view.x += x; view.y += y; draw(); };
      const at = event => {
        const point = new DOMPoint(event.clientX, event.clientY);
        return point.matrixTransform(map.getScreenCTM().inverse());
      };

      const bar = document.createElement('div');
      bar.className = 'zoom';
      for (const [sign, name, act] of [
        ['+', 'Zoom in', () => zoom(0.5)], ['\\u2212', 'Zoom out', () => zoom(2)],
        ['\\u25a2', 'Show the whole map', () => { view = { ...full }; draw(); }],
      ]) {
        const button = document.createElement('button');
        button.type = 'button';
        button.textContent = sign;
        button.setAttribute('aria-label', name);
        button.addEventListener('click', act);
        bar.append(button);
      }
      bar.addEventListener('keydown', event => {
        const step = view.width / 5;
        const [x, y] = {
          ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step],
        }[event.key] ?? [0, 0];
        if (x || y) { event.preventDefault(); move(x, y); }
      });
      map.before(bar);

      map.addEventListener('wheel', event => {
        // Without Ctrl or Cmd the wheel scrolls the page as usual.
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        const point = at(event);
        zoom(event.deltaY < 0 ? 0.8 : 1.25, point.x, point.y);
      }, { passive: false });
      map.addEventListener('dblclick', event => {
        const point = at(event);
        zoom(0.5, point.x, point.y);
      });
      // A drag moves the map. While the whole map is shown, a drag scrolls the page instead.
      let held = null;
      let wasMoved = false;
      map.addEventListener('pointerdown', event => {
        if (event.button !== 0 || view.width >= full.width) return;
        held = at(event);
        wasMoved = false;
      });
      map.addEventListener('pointermove', event => {
        if (!held) return;
        const point = at(event);
        if (!wasMoved && Math.hypot(point.x - held.x, point.y - held.y) < view.width / 100) return;
        wasMoved = true;
        map.setPointerCapture(event.pointerId);
        move(held.x - point.x, held.y - point.y);
      });
      for (const name of ['pointerup', 'pointercancel', 'pointerleave']) {
        map.addEventListener(name, () => { held = null; });
      }
      map.addEventListener('dragstart', event => event.preventDefault());
      // The click at the end of a drag opens no link.
      map.addEventListener('click', event => {
        if (wasMoved) { event.preventDefault(); wasMoved = false; }
      }, true);
    }
  })();

  """
