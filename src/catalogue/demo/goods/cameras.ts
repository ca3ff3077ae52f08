import { kind } from './kind.ts';

export const CAMERAS = [
  kind({
    category: 'фототехника',
    weight: 30,
    gender: 'm',
    wear: 'device',
    noun: 'фотоаппарат',
    english: 'camera',
    models: `
      Canon: EOS 600D 17000 x2; EOS 80D 42000; EOS R10 86000; EOS 6D Mark II 72000; PowerShot G7 X Mark III 62000
      Nikon: D3500 33000; D5600 42000; D750 58000; Z50 74000
      Sony: Alpha A6400 78000 x2; Alpha A7 III 110000; ZV-E10 62000; Cyber-shot RX100 VII 82000
      Fujifilm: X-T30 II 84000; X-T4 112000
    `,
    slots: {
      shots: '4000; 7000; 9500; 12 000; 18 000; 26 000',
      bag: 'сумка=a bag; ремень=a strap; вторая батарея=a second battery*1.03; карта памяти=a memory card*1.02',
    },
    titles: `
      Фотоаппарат $full
      $full, пробег $shots кадров
      Камера $full, в комплекте $bag
    `,
    about: `
      ~ Пробег около $shots кадров, матрица чистая, [грибка и пыли нет|стёкла без царапин]
      В комплекте $bag, зарядное устройство, [коробка|документы]
      ~ [Снимал для себя|Брали в путешествия], [в дождь не попадал|хранился в сухом шкафу]
      $bag, [два объектива|китовый объектив], коробка и документы
    `,
    titlesEn: `
      $full camera
      $full with $bag
    `,
    aboutEn: `
      ~ Shutter count about $shots, clean sensor, no fungus or dust
      ~ Comes with a charger and $bag. [A hobby camera|Taken on holidays only]
      $bag and a kit lens included, with documents
    `,
  }),
];
