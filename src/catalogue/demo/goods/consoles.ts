import { kind } from './kind.ts';

export const CONSOLES = [
  kind({
    category: 'игры и приставки',
    weight: 36,
    gender: 'f',
    wear: 'device',
    noun: 'приставка',
    english: 'game console',
    models: `
      Sony: PlayStation 5~пс5 47000 x3; PlayStation 5 Slim~пс5 слим 52000 x2; PlayStation 4 Pro~пс4 про 24000; PlayStation 4 Slim~пс4 слим 18000 x2; PlayStation 3 Super Slim~пс3 8000
      Microsoft: Xbox Series S~хбокс с 26000 x2; Xbox Series X~хбокс х 46000; Xbox One S~хбокс оне 15000
      Nintendo: Switch OLED~свитч олед 27000 x2; Switch Lite~свитч лайт 15500; Switch~свитч 20000
      Valve: Steam Deck 512~стим дек 44000
    `,
    slots: {
      pads: 'один геймпад=one controller; два геймпада=two controllers*1.08; геймпад и зарядная станция=a controller and a dock*1.06',
      games: '3; 4; 5; 6; 8; 12',
    },
    titles: `
      $full
      Игровая приставка $full
      $full, $pads
      $alias, $pads
    `,
    about: `
      В комплекте $pads, провода, [коробка|подставка]. Дисков отдам $games штук
      ~ Не шумит, не греется, [чистилась в сервисе|пломбы целые], прошивка [последняя|заводская]
      ~ [Играли мало, больше нет времени|Покупали ребёнку, наигрался|Покупал под одну игру]
      ~ На аккаунте есть игры, [помогу войти|подписка ещё действует]
      $pads, [консоль и все провода|кабель HDMI], коробка
      Отдаю вместе $pads и дисков $games шт
    `,
    titlesEn: `
      $full console, $pads
      $full, $games games
    `,
    aboutEn: `
      Comes with $pads, all cables and $games games
      ~ Quiet, never opened. [We just do not have time to play|The kid has lost interest]
      Box, cables, $pads and $games discs
    `,
  }),
];
